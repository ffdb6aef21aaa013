#!/usr/bin/perl
# What a line of Log4perl costs: the same line as that of `log-bench`, to a file. The caller writes it itself.
#
# Log4perl has no fields: they are a part of the message here, as text that nothing escapes and nothing masks.
#
# Run: line.pl FOLDER. It prints a name, nanoseconds of the caller and of the process, as `tools/log` reads them.
# Debian: apt-get install liblog-log4perl-perl
use strict;
use warnings;
use Log::Log4perl;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

use constant {BATCHES => 9, LINES => 2_000, FIRST => 100_000};

my ($folder) = @ARGV;
die "usage: line.pl FOLDER\n" unless defined $folder;
Log::Log4perl->init(\<<"CONFIG");
log4perl.rootLogger = INFO, File
log4perl.appender.File = Log::Log4perl::Appender::File
log4perl.appender.File.filename = $folder/log4perl
log4perl.appender.File.layout = Log::Log4perl::Layout::PatternLayout
log4perl.appender.File.layout.ConversionPattern = {"time":"%d{yyyy-MM-ddTHH:mm:ss.SSS}Z","level":"%p","category":"%c",%m}%n
CONFIG
my $logger = Log::Log4perl->get_logger('log_bench.batch.Search');

sub batch {
    my ($begun, $process) = (clock_gettime(CLOCK_MONOTONIC), clock_gettime(CLOCK_PROCESS_CPUTIME_ID));
    for my $number (FIRST .. FIRST + LINES - 1) {
        my ($word, $hits) = ('bees and honey', 17);
        $logger->info(qq("message":"searched","fields":{"word":"$word","number":$number,"hits":$hits}));
    }
    return map { $_ * 1e9 / LINES } clock_gettime(CLOCK_MONOTONIC) - $begun,
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $process;
}

sub middle { return (sort { $a <=> $b } @_)[@_ / 2] }

batch();
my @costs = map { [batch()] } 1 .. BATCHES;
print join("\t", 'the same to Log4perl', map { my $at = $_; middle(map { $_->[$at] } @costs) } 0, 1), "\n";
