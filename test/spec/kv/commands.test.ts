import { expect } from 'chai';
import { allCommands, findCommand } from '../../../src/domain/kv/index.js';
import { NOW, wordsOf } from '../../support/kv-case.js';
import {
  ALL_CASES,
  CONNECTION_CASES,
  GENERIC_CASES,
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

describe('key-value commands: the table', () => {
  it('has a case for every command', () => {
    const met = new Set(ALL_CASES.map((c) => findCommand(wordsOf(c.when, NOW).concat(''))));
    const missing = allCommands().filter((spec) => !met.has(spec));
    expect(missing.map((spec) => spec.name)).to.deep.equal([]);
  });

  it('has an arity case for every command that can have a wrong arity', () => {
    const texts = new Set(ALL_CASES.map((c) => c.then));
    const missing = allCommands().filter((spec) => {
      if (spec.arity === -1 || spec.name === 'OBJECT HELP') return false;
      const name = spec.name.toLowerCase().replace(' ', '|');
      return !texts.has(`-ERR wrong number of arguments for '${name}' command`);
    });
    expect(missing.map((spec) => spec.name)).to.deep.equal([]);
  });

  it('names each command once, in upper case, with a summary that is a sentence', () => {
    const names = allCommands().map((spec) => spec.name);
    expect(new Set(names).size).to.equal(names.length);
    for (const spec of allCommands()) {
      expect(spec.name).to.equal(spec.name.toUpperCase());
      expect(spec.summary, spec.name).to.match(/^[A-Z].*\.$/);
    }
  });
});
