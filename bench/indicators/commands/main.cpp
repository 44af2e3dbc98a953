// indicator: runs performance indicators, stores what they print, and says what to use; started by `bench/run indicator`
#include "indicators/commands/command.hpp"
#include "lab/data/input_error.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    CLI::App app("Runs performance indicators, checks and stores what they print, and says what to use.",
                 "indicator");
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    indicators::shared_arguments shared;
    app.add_option("--models", shared.models,
                   "a folder of models besides the program's own; may be given more than once")
        ->allow_extra_args(false)
        ->envname("INDICATOR_MODELS");
    app.fallthrough();
    indicators::add_run(app, shared);
    indicators::add_check(app, shared);
    indicators::add_import(app, shared);
    indicators::add_export(app, shared);
    indicators::add_query(app, shared);
    indicators::add_recommend(app, shared);
    indicators::add_models(app, shared);
    indicators::add_migrate(app, shared);
    try {
        app.parse(argc, argv);
    } catch (const CLI::RuntimeError& verdict) {
        return verdict.get_exit_code();
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong) == 0 ? 0 : 2;
    } catch (const lab::input_error& wrong) {
        std::cerr << "indicator: " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "indicator: " << failure.what() << '\n';
        return 3;
    }
    return 0;
}
