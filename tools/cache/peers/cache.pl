#!/usr/bin/perl
# One of Perl's caches under the same load as the others: see src/load.rs.
#
# Arguments: which cache, the file with the keys, a folder, memcached's socket, memcached's host and port, MiB of room.
# Each line of input is an order: src/peer/process.rs.

use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($name, $key_file, $folder, $socket, $address, $room) = @ARGV;

# What each is, built as its documentation shows it, with room for all entries and without expiry.
my %make = (
    'chi-memory' => sub { chi(driver => 'Memory', global => 0) },
    'chi-fastmmap' => sub { chi(driver => 'FastMmap', root_dir => "$folder/chi", cache_size => "${room}m") },
    'chi-memcached-unix' => sub { chi(driver => 'Memcached::Fast', servers => [$socket], namespace => 'u') },
    'chi-memcached-tcp' => sub { chi(driver => 'Memcached::Fast', servers => [$address], namespace => 't') },
    'chi-l1' => sub {
        my $l1 = { driver => 'Memory', global => 0 };
        chi(driver => 'Memcached::Fast', servers => [$address], namespace => 'l', l1_cache => $l1);
    },
    'fastmmap' => sub {
        require Cache::FastMmap;
        # Strings are stored as they are, which is the fastest it can do.
        Cache::FastMmap->new(share_file => "$folder/fastmmap", init_file => 1, cache_size => "${room}m", serializer => '');
    },
    'memcached-fast-unix' => sub {
        require Cache::Memcached::Fast;
        Cache::Memcached::Fast->new({ servers => [$socket], namespace => 'fu:' });
    },
    'memcached-fast-tcp' => sub {
        require Cache::Memcached::Fast;
        Cache::Memcached::Fast->new({ servers => [$address], namespace => 'ft:' });
    },
    'memcached-tcp' => sub {
        require Cache::Memcached;
        Cache::Memcached->new({ servers => [$address], namespace => 'mt:' });
    },
);

sub chi {
    require CHI;
    return CHI->new(@_);
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

open(my $file, '<', $key_file) or die "$key_file: $!\n";
chomp(my @stored = <$file>);
close($file);
# They are read in another order than they are stored, the same in each run.
my @read = map { $stored[($_ * 7919) % @stored] } 0 .. $#stored;
my ($stored, $read) = (0, 0);

my $make = $make{$name} or die "there is no cache $name\n";
my $cache = $make->();
$| = 1;
print "ready\n";

while (my $order = <STDIN>) {
    my ($verb, @words) = split ' ', $order;
    if ($verb eq 'fill') {
        $cache->set($_, 'f' x $words[0]) for @stored;
        print "filled\n";
    }
    else {
        my ($sets, $gets, $bytes, $seconds) = @words;
        print join(' ', load($sets, $gets, 'v' x $bytes, $seconds)), "\n";
    }
}

# The clock is read after each batch, and a batch grows until it takes a twentieth of the time.
sub load {
    my ($sets, $gets, $value, $seconds) = @_;
    my ($batch, $operations, $misses, $length) = (1, 0, 0, length $value);
    my $start = now();
    while (1) {
        my $before = now();
        for (1 .. $batch) {
            for (1 .. $sets) {
                $cache->set($stored[$stored], $value);
                $stored = 0 if ++$stored == @stored;
            }
            for (1 .. $gets) {
                my $found = $cache->get($read[$read]);
                $misses++ unless defined $found && length $found == $length;
                $read = 0 if ++$read == @read;
            }
        }
        $operations += $batch * ($sets + $gets);
        my $after = now();
        return ($operations, $after - $start, $misses) if $after - $start >= $seconds;
        $batch *= 2 if ($after - $before) * 20 < $seconds;
    }
}
