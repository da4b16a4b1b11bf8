import { type KvCase, kvCase, NOW } from '../../../support/kv-case.js';
import { SYNTAX, wrongArity } from './texts.js';

/** Names of JavaScript prototypes, which are no commands and no sections. */
const UNKNOWN = ['NOSUCH', 'constructor', '__proto__'];

const INFO_SECTIONS =
  'Server Clients Memory Persistence Stats Replication CPU Modules Commandstats Errorstats Latencystats Cluster Keyspace';

/** The headings of INFO's answer, in order. */
function hasSections(names: string): (reply: unknown) => boolean {
  return (reply) => [...String(reply).matchAll(/^# (.*)\r$/gm)].map(([, name]) => name).join(' ') === names;
}

export const SERVER_CASES: readonly KvCase[] = [
  kvCase('PING answers PONG', [], 'PING', '+PONG', []),
  kvCase('PING answers its argument', [], 'PING hello', 'hello', []),
  kvCase('PING takes one word at most', [], 'PING a b', wrongArity('ping')),
  kvCase('ECHO answers its argument', [], 'ECHO \\x00\\xff', '\x00\xff', []),
  kvCase('ECHO needs a word', [], 'ECHO', wrongArity('echo')),
  kvCase('DBSIZE counts keys', ['SET a 1', 'SET b 2'], 'DBSIZE', 2, []),
  kvCase('DBSIZE refuses an argument', [], 'DBSIZE x', wrongArity('dbsize')),
  kvCase('TIME is seconds and microseconds', [], 'TIME', [String(NOW / 1000), '42'], []),
  kvCase('TIME refuses an argument', [], 'TIME x', wrongArity('time')),
  kvCase('COMMAND is an empty list', [], 'COMMAND', [], []),
  kvCase('INFO answers every section', ['SET a 1 EX 10'], 'INFO', hasSections(INFO_SECTIONS), []),
  kvCase('INFO answers the requested sections', [], 'INFO keyspace SERVER', hasSections('Server Keyspace'), []),
  kvCase(
    'INFO counts keys',
    ['SET a 1 EX 10', 'SET b 1'],
    'INFO keyspace',
    '# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=0\r\n',
    [],
  ),
  kvCase('INFO treats names of prototypes as unknown sections', [], 'INFO constructor', '# Constructor\r\n', []),
  kvCase('INFO repeats an unknown section name byte for byte', [], 'INFO \\xff', '# \xff\r\n', []),
  kvCase('INFO of an unknown section is only its heading', [], 'INFO foo', '# Foo\r\n', []),
  ...['FLUSHALL', 'FLUSHDB'].flatMap((name) => [
    kvCase(`${name} deletes every key`, ['SET a 1 EX 10', 'RPUSH l a'], name, '+OK', [name]),
    kvCase(`${name} without keys records no effect`, [], name, '+OK', []),
    kvCase(`${name} takes ASYNC`, ['SET a 1'], `${name} async`, '+OK', [name]),
    kvCase(`${name} takes SYNC`, ['SET a 1'], `${name} SYNC`, '+OK', [name]),
    kvCase(`${name} refuses another word`, ['SET a 1'], `${name} FOO`, SYNTAX, []),
    kvCase(`${name} refuses two words`, ['SET a 1'], `${name} ASYNC SYNC`, SYNTAX, []),
  ]),
  ...UNKNOWN.map((name) =>
    kvCase(`${name} is unknown`, [], `${name} a`, `-ERR unknown command '${name}', with args beginning with: 'a' `, []),
  ),
  kvCase('no word is an empty command', [], [], '-ERR empty command', []),
  kvCase('an empty name is an empty command', [], [''], '-ERR empty command', []),
];
