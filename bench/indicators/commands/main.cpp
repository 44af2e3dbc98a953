// indicator: runs performance indicators, stores results, and recommends configurations; started by `bench/run indicator`
#include "indicators/commands/command.hpp"
#include "lab/data/input_error.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>

namespace {

int written(int status) {
    if (std::cout.flush()) return status;
    std::cerr << "indicator: standard output can't be written\n";
    return 3;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Runs performance indicators, checks and stores their output, and recommends configurations.",
        "indicator");
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    indicators::shared_arguments shared;
    app.add_option("--models", shared.models, "a further folder of models; may be given more than once")
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
    // The words of the other program are not parsed.
    char** const end = argv + argc;
    char** const program =
        std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
    if (program != end) shared.program.assign(program + 1, end);
    try {
        app.parse(static_cast<int>(program - argv), argv);
    } catch (const CLI::RuntimeError& verdict) {
        return written(verdict.get_exit_code());
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong) == 0 ? 0 : 2;
    } catch (const lab::input_error& wrong) {
        std::cerr << "indicator: " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "indicator: " << failure.what() << '\n';
        return 3;
    }
    return written(0);
}
