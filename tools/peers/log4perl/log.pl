#!/usr/bin/perl
# What a call of a logger costs in Perl: the four ways of the post, and one that is suppressed.
#
# Run: log.pl direct|method|moosex-logger|moosex-log|suppressed SECONDS. It prints calls, seconds and CPU time.
# Debian: apt-get install liblog-log4perl-perl libmoosex-log-log4perl-perl
use strict;
use warnings;
use Log::Log4perl;
use Time::HiRes qw(time);

Log::Log4perl->init(\<<'CONFIG');
log4perl.rootLogger = INFO, Null
log4perl.appender.Null = Log::Log4perl::Appender::TestBuffer
log4perl.appender.Null.layout = Log::Log4perl::Layout::PatternLayout
log4perl.appender.Null.layout.ConversionPattern = %d %p> %m%n
CONFIG

{
    # An appender that throws away what the layout has made.
    no warnings qw(once redefine);
    require Log::Log4perl::Appender::TestBuffer;
    *Log::Log4perl::Appender::TestBuffer::log = sub { };
}

package Plain;
sub new { return bless {logger => Log::Log4perl->get_logger('Plain')}, shift }
sub log { return $_[0]{logger} }

package Moosed;
use Moose;
with 'MooseX::Log::Log4perl';

package main;

my ($which, $seconds) = @ARGV;
my $direct = Log::Log4perl->get_logger('main');
my ($plain, $moosed) = (Plain->new, Moosed->new);
my %calls = (
    'direct'        => sub { $direct->info('a message') for 1 .. 100 },
    'method'        => sub { $plain->log->info('a message') for 1 .. 100 },
    'moosex-logger' => sub { $moosed->logger->info('a message') for 1 .. 100 },
    'moosex-log'    => sub { $moosed->log->info('a message') for 1 .. 100 },
    'suppressed'    => sub { $direct->debug('a message') for 1 .. 100 },
);
my $call = $calls{$which // ''} or die 'which? One of: ' . join(', ', sort keys %calls) . "\n";
my ($count, $begun) = (0, time);
while (time - $begun < $seconds) {
    $call->();
    $count += 100;
}
my ($user, $system) = times;
printf "%d calls in %.3f s, %d us of CPU\n", $count, time - $begun, ($user + $system) * 1e6;
