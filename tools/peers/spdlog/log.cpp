// What a line of spdlog costs, by its asynchronous logger: the same line as that of `log-bench`, to a file.
//
// spdlog has no fields: they are a part of the message here, as text that nothing escapes and nothing masks.
//
// Run: log FOLDER. It prints a name, nanoseconds of the caller and of all threads, as `tools/log` reads them.
// Debian: apt-get install libspdlog-dev
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

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
    const auto path = std::filesystem::path(arguments[1]) / "spdlog";
    // More room than a batch needs, as the others have: nothing waits, nothing is dropped.
    spdlog::init_thread_pool(1 << 15, 1);
    auto logger = spdlog::basic_logger_mt<spdlog::async_factory>("log_bench::batch::Search", path.string());
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","category":"%n",%v})", spdlog::pattern_time_type::utc);
    std::vector<double> callers, all;
    uintmax_t line = 0;
    for (int batch = 0; batch <= batches; ++batch) {
        const auto before = std::filesystem::file_size(path);
        const double process = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
        for (uint64_t number = first; number < first + lines; ++number) {
            volatile uint64_t hits = 17;
            logger->info(R"("message":"searched","fields":{{"word":"{}","number":{},"hits":{}}})", "bees and honey", number, hits);
        }
        const double caller = now(CLOCK_MONOTONIC) - begun;
        logger->flush();
        const double own = now(CLOCK_THREAD_CPUTIME_ID);
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
    std::printf("the same to spdlog, asynchronous\t%f\t%f\n", middle(callers), middle(all));
    spdlog::shutdown();
    return 0;
}
