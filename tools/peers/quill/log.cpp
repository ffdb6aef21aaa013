// What a line of quill costs, by its asynchronous logger: the same line as that of `log-bench`, to a file.
//
// quill has no fields in a layout of one's own: they are a part of the message here, as text that nothing escapes and nothing masks.
//
// Run: log FOLDER. It prints a name, nanoseconds of the caller and of all threads, as `tools/log` reads them.
// quill is headers only, and no package of Debian 12: QUILL_INCLUDE names the folder `include` of its repository, odygrd/quill.
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

namespace {

constexpr uint64_t lines = 10'000;
constexpr uint64_t first = 100'000;
constexpr int batches = 9;

double now(clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int count, char **arguments) {
    if (count != 2) {
        return 2;
    }
    const auto path = std::filesystem::path(arguments[1]) / "quill";
    // Its defaults: the queue of a thread grows as needed, and the backend looks every 100 us.
    quill::Backend::start();
    quill::FileSinkConfig config;
    config.set_open_mode('w');
    auto sink = quill::Frontend::create_or_get_sink<quill::FileSink>(path.string(), config);
    auto *logger = quill::Frontend::create_or_get_logger(
        "log_bench::batch::Search", std::move(sink),
        quill::PatternFormatterOptions{
            R"json({"time":"%(time)","level":"%(log_level)","category":"%(logger)",%(message)})json", "%Y-%m-%dT%H:%M:%S.%QmsZ",
            quill::Timezone::GmtTime});
    std::vector<double> callers, all;
    uintmax_t line = 0;
    for (int batch = 0; batch <= batches; ++batch) {
        const auto before = std::filesystem::file_size(path);
        const double process = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
        for (uint64_t number = first; number < first + lines; ++number) {
            volatile uint64_t hits = 17;
            const uint64_t seventeen = hits;
            LOG_INFO(logger, R"("message":"searched","fields":{{"word":"{}","number":{},"hits":{}}})", "bees and honey", number, seventeen);
        }
        const double caller = now(CLOCK_MONOTONIC) - begun;
        const double own = now(CLOCK_THREAD_CPUTIME_ID);
        logger->flush_log();
        // The first batch says how long a line is; it warms up, too.
        for (uintmax_t size = 0; line == 0 ? size == 0 || size != std::filesystem::file_size(path) : size < before + lines * line;) {
            size = std::filesystem::file_size(path);
            std::this_thread::sleep_for(std::chrono::milliseconds(line == 0 ? 300 : 5));
        }
        const double waiting = now(CLOCK_THREAD_CPUTIME_ID) - own;
        if (line == 0) {
            line = std::filesystem::file_size(path) / lines;
            continue;
        }
        callers.push_back(caller / lines);
        all.push_back((now(CLOCK_PROCESS_CPUTIME_ID) - process - waiting) / lines);
    }
    std::printf("the same to quill\t%f\t%f\n", middle(callers), middle(all));
    quill::Backend::stop();
    return 0;
}
