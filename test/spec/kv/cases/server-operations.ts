/** CONFIG, INFO, SLOWLOG, LATENCY, MEMORY, COMMAND, PUBSUB and refused commands. */
import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, wrongArity } from './texts.js';

const isText = (reply: unknown) => typeof reply === 'string' && reply.length > 0;
const isHelp = (reply: unknown) => Array.isArray(reply) && reply.length > 2 && String(reply[0]).startsWith('+');
const hasName = (name: string) => (reply: unknown) => JSON.stringify(reply).includes(`"${name}"`);

/** Commands that take no further word, in the form their arity error names them. */
const FIXED = [
  'config|resetstat',
  'config|rewrite',
  'config|help',
  'slowlog|len',
  'slowlog|reset',
  'slowlog|help',
  'latency|latest',
  'latency|doctor',
  'latency|help',
  'latency|history',
  'latency|graph',
  'memory|doctor',
  'memory|purge',
  'memory|stats',
  'memory|help',
  'command|count',
  'command|help',
  'pubsub|numpat',
  'pubsub|help',
  'lastsave',
  'role',
];
/** Commands that need a further word. */
const NEEDING = ['config|get', 'config|set', 'command|getkeys', 'command|getkeysandflags', 'publish', 'spublish'];
export const SERVER_OPERATION_CASES: readonly KvCase[] = [
  ...FIXED.map((name) =>
    kvCase(`${name} takes no further word`, [], `${name.replace('|', ' ')} x y z`, wrongArity(name), []),
  ),
  ...NEEDING.map((name) => kvCase(`${name} needs a further word`, [], name.replace('|', ' '), wrongArity(name), [])),

  kvCase('CONFIG GET finds parameters by pattern', [], 'CONFIG GET hash-max-listpack-*', [
    'hash-max-listpack-entries',
    '128',
    'hash-max-listpack-value',
    '64',
  ]),
  kvCase('CONFIG GET of an unknown parameter is empty', [], 'CONFIG GET nosuch', [], []),
  kvCase('CONFIG SET sets a parameter', [], 'CONFIG SET maxmemory 100mb', '+OK', ['CONFIG SET maxmemory 104857600']),
  kvCase('CONFIG SET sets several', ['CONFIG SET maxmemory 1'], 'CONFIG SET maxmemory 2 SLOWLOG-max-len 5', '+OK', [
    'CONFIG SET maxmemory 2',
    'CONFIG SET slowlog-max-len 5',
  ]),
  kvCase('CONFIG SET of the current value records no effect', [], 'CONFIG SET maxmemory 0', '+OK', []),
  kvCase(
    'CONFIG GET shows a changed value',
    ['CONFIG SET notify-keyspace-events KEA'],
    'CONFIG GET notify-keyspace-events',
    ['notify-keyspace-events', 'AKE'],
  ),
  kvCase('CONFIG SET accepts older names', [], 'CONFIG SET hash-max-ziplist-entries 4', '+OK', [
    'CONFIG SET hash-max-listpack-entries 4',
  ]),
  kvCase(
    'CONFIG SET refuses an unknown parameter',
    [],
    'CONFIG SET maxmemory 5 nosuch 1',
    "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
    [],
  ),
  kvCase(
    'CONFIG SET refuses a parameter that cannot be changed',
    [],
    'CONFIG SET databases 2',
    "-ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config",
    [],
  ),
  kvCase(
    'CONFIG SET refuses a parameter twice',
    [],
    'CONFIG SET maxmemory 5 maxmemory 6',
    "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - duplicate parameter",
    [],
  ),
  kvCase('CONFIG SET refuses a bad number', [], 'CONFIG SET hash-max-listpack-entries x', (reply) =>
    String(reply).includes("argument couldn't be parsed into an integer"),
  ),
  kvCase('CONFIG SET refuses a number above its bound', [], 'CONFIG SET maxmemory-samples 65', (reply) =>
    String(reply).includes('argument must be between 1 and 64 inclusive'),
  ),
  kvCase('CONFIG SET refuses a bad size', [], 'CONFIG SET maxmemory 5zb', (reply) =>
    String(reply).includes('argument must be a memory value'),
  ),
  kvCase('CONFIG SET refuses a bad policy', [], 'CONFIG SET maxmemory-policy x', (reply) =>
    String(reply).includes('argument(s) must be one of the following: volatile-lru'),
  ),
  kvCase('CONFIG SET refuses a bad event class', [], 'CONFIG SET notify-keyspace-events q', (reply) =>
    String(reply).includes('Invalid event class character'),
  ),
  kvCase('CONFIG SET takes save points and keeps them', [], ['CONFIG', 'SET', 'save', '900 1 300 10'], '+OK'),
  kvCase('CONFIG SET accepts an empty list of save points', ['CONFIG SET save 900\\x201'], "CONFIG SET save ''", '+OK'),
  kvCase('CONFIG SET refuses half a save point', [], 'CONFIG SET save 900', (reply) =>
    String(reply).includes('Invalid save parameters'),
  ),
  kvCase('CONFIG SET accepts appendfsync for compatibility', [], 'CONFIG SET appendfsync everysec', '+OK', [
    'CONFIG SET appendfsync everysec',
  ]),
  kvCase('CONFIG SET needs pairs', [], 'CONFIG SET maxmemory 1 slowlog-max-len', SYNTAX, []),
  kvCase('CONFIG RESETSTAT answers OK', [], 'CONFIG RESETSTAT', '+OK', []),
  kvCase('CONFIG REWRITE is not needed', [], 'CONFIG REWRITE', '-ERR The server is running without a config file', []),
  kvCase('CONFIG HELP describes', [], 'CONFIG HELP', isHelp),

  kvCase('SLOWLOG GET is empty without slow commands', [], 'SLOWLOG GET', [], []),
  kvCase('SLOWLOG GET takes a count', [], 'SLOWLOG GET -1', [], []),
  kvCase(
    'SLOWLOG GET refuses a count below -1',
    [],
    'SLOWLOG GET -2',
    '-ERR count should be greater than or equal to -1',
  ),
  kvCase('SLOWLOG LEN counts', [], 'SLOWLOG LEN', 0, []),
  kvCase('SLOWLOG RESET answers OK', [], 'SLOWLOG RESET', '+OK', []),
  kvCase('SLOWLOG HELP describes', [], 'SLOWLOG HELP', isHelp),

  kvCase('LATENCY LATEST is empty at first', [], 'LATENCY LATEST', [], []),
  kvCase('LATENCY HISTORY is empty at first', [], 'LATENCY HISTORY command', [], []),
  kvCase('LATENCY RESET counts the removed events', [], 'LATENCY RESET', 0, []),
  kvCase('LATENCY GRAPH needs samples', [], 'LATENCY GRAPH command', "-ERR No samples available for event 'command'"),
  kvCase('LATENCY DOCTOR reports', [], 'LATENCY DOCTOR', isText),
  kvCase('LATENCY HISTOGRAM is empty without commands', [], 'LATENCY HISTOGRAM nosuch', [], []),
  kvCase('LATENCY HELP describes', [], 'LATENCY HELP', isHelp),

  kvCase('MEMORY DOCTOR reports', [], 'MEMORY DOCTOR', isText),
  kvCase('MEMORY PURGE answers OK', [], 'MEMORY PURGE', '+OK', []),
  kvCase('MEMORY STATS names the keys', ['SET a 1'], 'MEMORY STATS', hasName('keys.count')),
  kvCase('MEMORY HELP describes', [], 'MEMORY HELP', isHelp),

  kvCase('LASTSAVE is a number of seconds', [], 'LASTSAVE', (reply) => Number(reply) > 1_600_000_000),
  kvCase('ROLE is a master without replicas', [], 'ROLE', ['master', 0, []], []),
  kvCase('LOLWUT answers a text', [], 'LOLWUT', isText),

  kvCase('COMMAND over REST is an empty list', [], 'COMMAND', [], []),
  kvCase('COMMAND COUNT is a number', [], 'COMMAND COUNT', (reply) => Number(reply) > 40),
  kvCase('COMMAND LIST has names', [], 'COMMAND LIST', hasName('config|get')),
  kvCase('COMMAND LIST filters by pattern', [], 'COMMAND LIST FILTERBY PATTERN getra*', ['getrange'], []),
  kvCase('COMMAND LIST filters by category', [], 'COMMAND LIST FILTERBY ACLCAT pubsub', hasName('publish')),
  kvCase('COMMAND LIST FILTERBY MODULE is empty', [], 'COMMAND LIST FILTERBY MODULE x', [], []),
  kvCase('COMMAND LIST refuses another filter', [], 'COMMAND LIST FILTERBY x y', SYNTAX),
  kvCase('COMMAND INFO of an unknown command is null', [], 'COMMAND INFO nosuch', [null], []),
  kvCase('COMMAND INFO shows arity and keys', [], 'COMMAND INFO get', (reply) => {
    const [get] = reply as unknown[][];
    return JSON.stringify(get?.slice(0, 2)) === '["get",2]' && JSON.stringify(get?.slice(3, 6)) === '[1,1,1]';
  }),
  kvCase('COMMAND INFO of an unknown subcommand is null', [], 'COMMAND INFO get|key config|get|key', [null, null], []),
  kvCase('COMMAND INFO has the flag movablekeys', [], 'COMMAND INFO sort_ro', (reply) =>
    String((reply as unknown[][])[0]?.[2]).includes('movablekeys'),
  ),
  kvCase(
    'COMMAND LIST has containers and their subcommands',
    [],
    'COMMAND LIST FILTERBY PATTERN config',
    ['config'],
    [],
  ),
  kvCase(
    'COMMAND GETKEYS of a script without keys is empty',
    [],
    ['COMMAND', 'GETKEYS', 'EVAL', 'return 1', '0'],
    [],
    [],
  ),
  kvCase(
    'COMMAND GETKEYS refuses a count beyond the words',
    [],
    'COMMAND GETKEYS ZINTERSTORE d 100 a',
    '-ERR Invalid arguments specified for command',
    [],
  ),
  kvCase('MODULE HELP describes', [], 'MODULE HELP', isHelp),
  kvCase('MODULE LIST names the module of the JSON commands', [], 'MODULE LIST', [
    ['name', 'ReJSON', 'ver', 80200, 'path', '', 'args', []],
  ]),
  kvCase('MODULE LIST refuses further words', [], 'MODULE LIST a', wrongArity('module|list')),
  kvCase('MODULE needs a subcommand', [], 'MODULE', wrongArity('module')),
  kvCase('MODULE refuses an unknown subcommand', [], 'MODULE FOO', "-ERR unknown subcommand 'FOO'. Try MODULE HELP."),
  ...['LOAD a', 'LOADEX a', 'UNLOAD a'].map((words) =>
    kvCase(`MODULE ${words} is refused`, [], `MODULE ${words}`, (reply) =>
      String(reply).startsWith(`-ERR MODULE ${words.split(' ')[0]} is not available: `),
    ),
  ),
  kvCase('MODULE LOADEX needs a path', [], 'MODULE LOADEX', wrongArity('module|loadex')),
  kvCase('MODULE HELP refuses further words', [], 'MODULE HELP a', wrongArity('module|help')),
  kvCase('MODULE LOAD needs a path', [], 'MODULE LOAD', wrongArity('module|load')),
  kvCase('MODULE UNLOAD needs a name', [], 'MODULE UNLOAD', wrongArity('module|unload')),
  kvCase('INFO modules names the module of the JSON commands', [], 'INFO modules', (reply) =>
    String(reply).includes('module:name=ReJSON,ver=80200,'),
  ),
  kvCase('COMMAND DOCS has a summary', [], 'COMMAND DOCS get', hasName('summary')),
  kvCase('COMMAND GETKEYS finds the keys', [], 'COMMAND GETKEYS MSET a 1 b 2', ['a', 'b'], []),
  kvCase(
    'COMMAND GETKEYS refuses a command without keys',
    [],
    'COMMAND GETKEYS PING x',
    '-ERR The command has no key arguments',
  ),
  kvCase(
    'COMMAND GETKEYS refuses an unknown command',
    [],
    'COMMAND GETKEYS nosuch x',
    '-ERR Invalid command specified',
  ),
  kvCase(
    'COMMAND GETKEYS refuses a wrong arity',
    [],
    'COMMAND GETKEYS GET',
    '-ERR Invalid number of arguments specified for command',
  ),
  kvCase('COMMAND GETKEYSANDFLAGS answers the access to each key', [], 'COMMAND GETKEYSANDFLAGS GET a', [
    ['a', ['+RO', '+access']],
  ]),
  kvCase('COMMAND HELP describes', [], 'COMMAND HELP', isHelp),

  kvCase('PUBLISH reaches no subscriber', [], 'PUBLISH c m', 0, []),
  kvCase('SPUBLISH reaches no subscriber', [], 'SPUBLISH c m', 0, []),
  kvCase('PUBSUB CHANNELS is empty', [], 'PUBSUB CHANNELS', [], []),
  kvCase('PUBSUB SHARDCHANNELS is empty', [], 'PUBSUB SHARDCHANNELS *', [], []),
  kvCase('PUBSUB NUMSUB counts none', [], 'PUBSUB NUMSUB a b', ['a', 0, 'b', 0], []),
  kvCase('PUBSUB SHARDNUMSUB counts none', [], 'PUBSUB SHARDNUMSUB a', ['a', 0], []),
  kvCase('PUBSUB NUMPAT counts none', [], 'PUBSUB NUMPAT', 0, []),
  kvCase('PUBSUB HELP describes', [], 'PUBSUB HELP', isHelp),

  ...['BGREWRITEAOF', 'BGSAVE', 'SAVE', 'DEBUG', 'SHUTDOWN', 'MIGRATE', 'FAILOVER', 'PSYNC', 'REPLCONF'].map((name) =>
    kvCase(`${name} is refused`, [], `${name} a`, (reply) =>
      String(reply).startsWith(`-ERR ${name} is not available: `),
    ),
  ),
  ...['REPLICAOF', 'SLAVEOF', 'SYNC', 'MOVE', 'SWAPDB'].map((name) =>
    kvCase(`${name} is refused`, [], `${name} a`, (reply) =>
      String(reply).startsWith(`-ERR ${name} is not available: `),
    ),
  ),
];
