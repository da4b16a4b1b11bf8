import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { wrongArity } from './texts.js';

const library = (body: string, name = 'lib'): string => `#!lua name=${name}\n${body}`;
const ECHO = library("redis.register_function('f', function(keys, args) return {keys, args} end)");
const WRITES = library("redis.register_function('w', function(keys) return redis.call('set', keys[1], 'v') end)");
const READS = library(
  "redis.register_function{function_name='r', flags={'no-writes'}, description='d', callback=function(keys) return redis.call('get', keys[1]) end}",
);
/** A library as one word of a line, without blanks. */
const line = (code: string): string => `FUNCTION LOAD ${code.replaceAll(' ', '\\x20').replaceAll('\n', '\\x0a')}`;
const KILL = '-NOTBUSY No scripts in execution right now.';
const loaded = (body: string): string[] => ['FUNCTION', 'LOAD', library(body)];

export const FUNCTIONS_CASES: readonly KvCase[] = [
  kvCase('FUNCTION LOAD answers the name and records the text', [], ['FUNCTION', 'LOAD', ECHO], 'lib', [
    `FUNCTION LOAD REPLACE ${ECHO.replaceAll(' ', '\\x20')}`,
  ]),
  kvCase('FUNCTION LOAD needs a text', [], 'FUNCTION LOAD', wrongArity('function|load')),
  kvCase(
    'FUNCTION LOAD refuses a name that is taken',
    [line(ECHO)],
    ['FUNCTION', 'LOAD', WRITES],
    "-ERR Library 'lib' already exists",
    [],
  ),
  kvCase(
    'FUNCTION LOAD refuses a function of another library in another case',
    [line(ECHO)],
    ['FUNCTION', 'LOAD', library("redis.register_function('F', function() return 1 end)", 'other')],
    '-ERR Function F already exists',
    [],
  ),
  kvCase('FUNCTION LOAD takes a name in quotes', [], ['FUNCTION', 'LOAD', ECHO.replace('=lib', '="lib"')], 'lib'),
  kvCase(
    'FUNCTION LOAD offers a library no redis.setresp',
    [],
    ['FUNCTION', 'LOAD', library('redis.setresp(3)')],
    (reply) => String(reply).includes("attempted to access nonexistent global variable 'setresp'"),
    [],
  ),
  kvCase('FCALL finds a function in another case', [line(ECHO)], 'FCALL F 1 k a', [['k'], ['a']], []),
  kvCase('FUNCTION LOAD REPLACE replaces a library', [line(ECHO)], ['FUNCTION', 'LOAD', 'REPLACE', WRITES], 'lib'),
  kvCase(
    'FUNCTION LOAD refuses a function of another library',
    [line(ECHO)],
    ['FUNCTION', 'LOAD', ECHO.replace('=lib', '=other')],
    '-ERR Function f already exists',
    [],
  ),
  kvCase(
    'FUNCTION LOAD refuses a text without a first line',
    [],
    'FUNCTION LOAD x',
    '-ERR Missing library metadata',
    [],
  ),
  kvCase(
    'FUNCTION LOAD refuses a library without functions',
    [],
    loaded('return 1'),
    '-ERR No functions registered',
    [],
  ),
  kvCase(
    'FUNCTION LOAD refuses a text that does not compile',
    [],
    loaded('x='),
    (reply) => String(reply).startsWith('-ERR Error compiling function: user_function:2:'),
    [],
  ),
  kvCase(
    'FUNCTION LOAD lets a library only register functions',
    [],
    loaded("redis.call('get','k')"),
    "-ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable 'call'",
    [],
  ),
  kvCase('FCALL passes keys and arguments to the function', [line(ECHO)], 'FCALL f 1 k a', [['k'], ['a']], []),
  kvCase('FCALL records the effects of its commands', [line(WRITES)], 'FCALL w 1 k', '+OK', ['SET k v']),
  kvCase('FCALL refuses an unknown function', [], 'FCALL nosuch 0', '-ERR Function not found'),
  kvCase('FCALL refuses an invalid number of keys', [line(ECHO)], 'FCALL f x', '-ERR Bad number of keys provided'),
  kvCase('FCALL needs a number of keys', [], 'FCALL f', wrongArity('fcall')),
  kvCase('FCALL_RO reads', [line(READS), 'SET k v'], 'FCALL_RO r 1 k', 'v', []),
  kvCase('FCALL_RO runs any function over REST as long as it only reads', [line(ECHO)], 'FCALL_RO f 0', [[], []], []),
  kvCase(
    'FCALL_RO does not write',
    [line(WRITES)],
    'FCALL_RO w 1 k',
    (reply) => /commands are not allowed from read-only|with write flag/.test(String(reply)),
    [],
  ),
  kvCase('FCALL_RO needs a number of keys', [], 'FCALL_RO f', wrongArity('fcall_ro')),
  kvCase('FUNCTION DELETE removes a library with its functions', [line(ECHO)], 'FUNCTION DELETE lib', '+OK', [
    'FUNCTION DELETE lib',
  ]),
  kvCase(
    'a function of a deleted library is gone',
    [line(ECHO), 'FUNCTION DELETE lib'],
    'FCALL f 0',
    '-ERR Function not found',
  ),
  kvCase('FUNCTION DELETE refuses an unknown library', [], 'FUNCTION DELETE lib', '-ERR Library not found', []),
  kvCase('FUNCTION DELETE takes one library', [], 'FUNCTION DELETE', wrongArity('function|delete')),
  kvCase('FUNCTION FLUSH removes all libraries', [line(ECHO)], 'FUNCTION FLUSH ASYNC', '+OK', ['FUNCTION FLUSH']),
  kvCase('FUNCTION FLUSH without libraries records no effect', [], 'FUNCTION FLUSH', '+OK', []),
  kvCase(
    'FUNCTION FLUSH refuses an unknown mode',
    [],
    'FUNCTION FLUSH FOO',
    '-ERR FUNCTION FLUSH only supports SYNC|ASYNC option',
  ),
  kvCase('FUNCTION LIST describes libraries', [line(READS)], 'FUNCTION LIST', [
    ['library_name', 'lib', 'engine', 'LUA', 'functions', [['name', 'r', 'description', 'd', 'flags', ['+no-writes']]]],
  ]),
  kvCase('FUNCTION LIST finds by pattern and shows the text', [line(ECHO)], 'FUNCTION LIST LIBRARYNAME l* WITHCODE', [
    [
      'library_name',
      'lib',
      'engine',
      'LUA',
      'functions',
      [['name', 'f', 'description', null, 'flags', []]],
      'library_code',
      ECHO,
    ],
  ]),
  kvCase('FUNCTION LIST refuses an unknown word', [], 'FUNCTION LIST FOO', '-ERR Unknown argument FOO'),
  kvCase('FUNCTION STATS counts', [line(ECHO)], 'FUNCTION STATS', [
    'running_script',
    null,
    'engines',
    ['LUA', ['libraries_count', 1, 'functions_count', 1]],
  ]),
  kvCase('FUNCTION STATS refuses further words', [], 'FUNCTION STATS x', wrongArity('function|stats')),
  kvCase('FUNCTION KILL answers NOTBUSY without a running script', [], 'FUNCTION KILL', KILL),
  kvCase('FUNCTION KILL refuses further words', [], 'FUNCTION KILL x', wrongArity('function|kill')),
  kvCase('FUNCTION DUMP without libraries is a footer', [], 'FUNCTION DUMP', (reply) => String(reply).length === 10),
  kvCase('FUNCTION DUMP refuses further words', [], 'FUNCTION DUMP x', wrongArity('function|dump')),
  kvCase(
    'FUNCTION RESTORE refuses an invalid payload',
    [],
    'FUNCTION RESTORE x',
    '-ERR DUMP payload version or checksum are wrong',
    [],
  ),
  kvCase(
    'FUNCTION RESTORE refuses an unknown policy',
    [],
    'FUNCTION RESTORE x FOO',
    '-ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.',
  ),
  kvCase('FUNCTION RESTORE needs a payload', [], 'FUNCTION RESTORE', wrongArity('function|restore')),
  kvCase('FUNCTION HELP lists the subcommands', [], 'FUNCTION HELP', (reply) =>
    (reply as unknown[]).includes('+STATS'),
  ),
  kvCase('FUNCTION HELP refuses further words', [], 'FUNCTION HELP x', wrongArity('function|help')),
];
