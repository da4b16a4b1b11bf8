/** The ACL commands that the engine answers; an edge answers those about users (test/spec/edge-kv/acl.test.ts). */
import { type KvCase, kvCase } from '../../../support/kv-case.js';

const ELSEWHERE = '-ERR ACL commands about users are not allowed in a transaction or a script';

const OF_EDGES = [
  'ACL DELUSER alice',
  'ACL DRYRUN default GET a',
  'ACL GENTOKEN alice',
  'ACL GETUSER alice',
  'ACL LIST',
  'ACL LOAD',
  'ACL LOG',
  'ACL RESTTOKEN alice pw',
  'ACL SAVE',
  'ACL SETUSER alice on',
  'ACL USERS',
  'ACL WHOAMI',
];

const ARITY: readonly (readonly [line: string, name: string])[] = [
  ['ACL DELUSER', 'acl|deluser'],
  ['ACL DRYRUN default', 'acl|dryrun'],
  ['ACL GENTOKEN', 'acl|gentoken'],
  ['ACL GETUSER', 'acl|getuser'],
  ['ACL HELP x', 'acl|help'],
  ['ACL LIST x', 'acl|list'],
  ['ACL LOAD x', 'acl|load'],
  ['ACL RESTTOKEN alice', 'acl|resttoken'],
  ['ACL SAVE x', 'acl|save'],
  ['ACL SETUSER', 'acl|setuser'],
  ['ACL USERS x', 'acl|users'],
  ['ACL WHOAMI x', 'acl|whoami'],
];

export const ACL_CASES: readonly KvCase[] = [
  kvCase('ACL CAT lists the categories', [], 'ACL CAT', (reply) => (reply as string[]).includes('keyspace'), []),
  kvCase('ACL CAT lists the commands of a category', [], 'ACL CAT transaction', (reply) => {
    return [...(reply as string[])].sort().join() === 'discard,exec,multi,unwatch,watch';
  }),
  kvCase('ACL CAT refuses an unknown category', [], 'ACL CAT nope', "-ERR Unknown category 'nope'"),
  kvCase(
    'ACL CAT takes one category',
    [],
    'ACL CAT read write',
    "-ERR unknown subcommand or wrong number of arguments for 'CAT'. Try ACL HELP.",
  ),
  kvCase('ACL GENPASS makes 64 hex digits', [], 'ACL GENPASS', (reply) => /^[0-9a-f]{64}$/.test(String(reply)), []),
  kvCase('ACL GENPASS rounds bits up to a digit', [], 'ACL GENPASS 5', (reply) => /^[0-9a-f]{2}$/.test(String(reply))),
  kvCase('ACL GENPASS accepts 4096 bits', [], 'ACL GENPASS 4096', (reply) => /^[0-9a-f]{1024}$/.test(String(reply))),
  kvCase(
    'ACL GENPASS refuses more bits',
    [],
    'ACL GENPASS 4097',
    '-ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096',
  ),
  kvCase('ACL HELP lists subcommands', [], 'ACL HELP', (reply) => String((reply as string[])[1]).includes('CAT')),
  ...OF_EDGES.map((line) => kvCase(`${line} is not for the engine`, [], line, ELSEWHERE, [])),
  ...ARITY.map(([line, name]) =>
    kvCase(`${line} has a wrong arity`, [], line, `-ERR wrong number of arguments for '${name}' command`),
  ),
];
