// lab: finds which factors make a program faster, and how they interact; started by `bench/run lab`
#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    CLI::App app("Finds which factors make a program faster, and how they interact.", "lab");
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    lab::add_plan(app);
    lab::add_run(app);
    lab::add_deltas(app);
    lab::add_fit(app);
    lab::add_paths(app);
    lab::add_pca(app);
    lab::add_search(app);
    lab::add_compare(app);
    lab::add_history(app);
    lab::add_plot(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::RuntimeError& verdict) {
        return verdict.get_exit_code();
    } catch (const CLI::ParseError& wrong) {
        return app.exit(wrong) == 0 ? 0 : 2;
    } catch (const lab::input_error& wrong) {
        std::cerr << "lab: " << wrong.what() << '\n';
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "lab: " << failure.what() << '\n';
        return 3;
    }
    return 0;
}
