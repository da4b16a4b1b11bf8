import { expect } from 'chai';
import { allCommands, type CommandSpec, findCommand } from '../../../src/domain/kv/index.js';
import { SCRIPT_COMMANDS } from '../../../src/projections/stats/metrics.js';
import { sources, textOf } from '../../support/import-graph.js';
import { type KvCase, NOW, wordsOf } from '../../support/kv-case.js';
import {
  ALL_CASES,
  CONNECTION_CASES,
  GENERIC_CASES,
  QUEUE_CASES,
  SERVER_CASES,
  STRING_CHANGE_CASES,
  STRING_GET_CASES,
  STRING_SET_CASES,
} from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: setting strings', STRING_SET_CASES);
describeCases('key-value commands: reading strings', STRING_GET_CASES);
describeCases('key-value commands: changing strings', STRING_CHANGE_CASES);
describeCases('key-value commands: keys of any type', GENERIC_CASES);
describeCases('key-value commands: connection and transactions', CONNECTION_CASES);
describeCases('key-value commands: server', SERVER_CASES);
describeCases('key-value commands: messages for the queue', QUEUE_CASES);

/** The newest server of test/differential, which sends all cases to it. */
const NEWEST_SERVER = [8, 0] as const;
/** Commands that this server does not have, like those of JSON: their cases run in the specs alone. */
const REDIS_LACKS: readonly string[] = [
  'BLMOVEM',
  'DELEX',
  'DIGEST',
  'HIMPORT DISCARD',
  'HIMPORT DISCARDALL',
  'HIMPORT PREPARE',
  'HIMPORT SET',
  'INCREX',
  'LMOVEM',
  'MSETEX',
  'SDIFFCARD',
  'SUNIONCARD',
  'VISMEMBER',
  'VRANGE',
  'XACKDEL',
  'XCFGSET',
  'XDELEX',
  'XNACK',
];

/** Statistics are stored by command name, because the read models do not load the engine. */
const COUNTED_BY_NAME = 'projections/stats/metrics.ts';

/** Families that no compared server has. */
const UNCOMPARED: readonly string[] = [
  ...['json', 'array', 'queue', 'vector', 'search'],
  ...['bloom', 'cuckoo', 'count-min', 'top-k', 't-digest'],
];

const CASES_BY_COMMAND = new Map<CommandSpec | undefined, KvCase[]>();
for (const kvCase of ALL_CASES) {
  const words = wordsOf(kvCase.when, NOW);
  const spec = words.length === 0 ? undefined : findCommand(words);
  CASES_BY_COMMAND.set(spec, [...(CASES_BY_COMMAND.get(spec) ?? []), kvCase]);
}

function namesOf(specs: readonly CommandSpec[]): string[] {
  return specs.map((spec) => spec.name).sort();
}

describe('key-value commands: the table', () => {
  const ARITY = /^-ERR wrong number of arguments for '(.*)' command$/;
  const casesOf = (spec: CommandSpec) => CASES_BY_COMMAND.get(spec) ?? [];

  it('has a case for every command beyond its arity', () => {
    const missing = allCommands().filter((spec) => casesOf(spec).every(({ then }) => ARITY.test(String(then))));
    expect(namesOf(missing), 'commands without a case').to.deep.equal([]);
  });

  it('has an arity case for every command that can have a wrong arity', () => {
    const refused = new Set(ALL_CASES.map(({ then }) => ARITY.exec(String(then))?.[1]));
    const missing = allCommands().filter((spec) => {
      // A command with a name of several words is only found with all of them, so those words cannot be missing.
      const canBeWrong = spec.arity > 0 || -spec.arity > spec.name.split(' ').length;
      return canBeWrong && !refused.has(spec.name.toLowerCase().replace(' ', '|'));
    });
    expect(namesOf(missing), 'commands without an arity case').to.deep.equal([]);
  });

  it('lists the commands that no compared server has', () => {
    const [newestMajor, newestMinor] = NEWEST_SERVER;
    const lacked = allCommands().filter(({ family, since }) => {
      const [major = 0, minor = 0] = since.split('.').map(Number);
      return !UNCOMPARED.includes(family) && (major > newestMajor || (major === newestMajor && minor > newestMinor));
    });
    expect(namesOf(lacked)).to.deep.equal(REDIS_LACKS);
  });

  it('names each command once, in upper case, with a summary that is a sentence', () => {
    const names = allCommands().map((spec) => spec.name);
    expect(new Set(names).size).to.equal(names.length);
    for (const spec of allCommands()) {
      expect(spec.name).to.equal(spec.name.toUpperCase());
      expect(spec.summary, spec.name).to.match(/^[A-Z].*\.$/);
    }
  });

  it('is the only list of commands: no other file has a set of names, or compares the name of a row', () => {
    const names = new Set(allCommands().map((spec) => spec.name));
    const isList = (members: string) => {
      const words = [...members.matchAll(/'([^']+)'/g)].map(([, word = '']) => word.toUpperCase());
      return words.length > 0 && words.every((word) => names.has(word.replace('|', ' ')));
    };
    const strays = sources()
      .filter((file) => !file.startsWith('domain/kv/families/') && file !== COUNTED_BY_NAME)
      .filter((file) => {
        const text = textOf(file);
        const sets = [...text.matchAll(/new Set(?:<\w+>)?\(\[([^\]]*)\]/g)].map(([, members = '']) => members);
        return sets.some(isList) || /\bspec\??\.name [!=]== '/.test(text);
      });
    expect(strays).to.deep.equal([]);
  });

  it('marks the commands that run a script, and the statistics count exactly these', () => {
    const scripts = allCommands().filter((spec) => spec.flags.includes('script'));
    expect(namesOf(scripts)).to.deep.equal([...SCRIPT_COMMANDS].sort());
  });
});
