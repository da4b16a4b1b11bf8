/** Commands whose effects a program of the previous release cannot replay, before and after the format level is raised. */
import { expect } from 'chai';
import {
  allCommands,
  ErrorReply,
  findCommand,
  KvEngine,
  OK,
  type Reply,
  type ServerInfo,
} from '../../../src/domain/kv/index.js';
import {
  FIRST_FORMAT_LEVEL,
  FORMAT_LEVEL,
  INDEXES_FORMAT_LEVEL,
  SKETCHES_FORMAT_LEVEL,
} from '../../../src/kernel/index.js';
import { seededRandom } from '../../support/kv-bench.js';
import { NOW, wordsOf } from '../../support/kv-case.js';

function engineAt(level: number | undefined): KvEngine {
  const facts: ServerInfo = { nowMicros: () => NOW * 1000, info: () => new Map() };
  return new KvEngine(seededRandom(1), level === undefined ? facts : { ...facts, formatLevel: () => level });
}

function run(engine: KvEngine, line: string | readonly string[]): Reply {
  const words = wordsOf(line, NOW);
  const spec = findCommand(words);
  if (spec === undefined) throw new Error(`no command ${words[0]}`);
  return engine.execute(spec, words, NOW) as Reply;
}

function refusal(engine: KvEngine, line: string | readonly string[]): string {
  const reply = run(engine, line);
  return reply instanceof ErrorReply ? reply.text : 'not refused';
}

const BELOW = INDEXES_FORMAT_LEVEL - 1;

describe('key-value: the format level of commands', () => {
  it('refuses a command whose effects need a higher level, and changes nothing', () => {
    const engine = engineAt(BELOW);
    for (const line of [
      'ARSET k 0 a',
      'VECTOR.CREATE k DIM 2 METRIC DOT',
      'SEARCH.CREATE k ON STRING PREFIX 1 a SCHEMA b TEXT',
    ]) {
      expect(refusal(engine, line)).to.match(
        new RegExp(`^ERR \\S+ needs format level ${INDEXES_FORMAT_LEVEL}: run millrace cluster upgrade$`),
      );
    }
    expect([engine.keyspace.size, engine.effects.count]).to.deep.equal([0, 0]);
  });

  it('refuses filters and sketches, and messages of producers, below their level', () => {
    const engine = engineAt(SKETCHES_FORMAT_LEVEL - 1);
    for (const line of ['BF.ADD k a', 'TDIGEST.CREATE k', 'XADD s IDMP p m * a 1']) {
      expect(refusal(engine, line)).to.contain(
        `needs format level ${SKETCHES_FORMAT_LEVEL}: run millrace cluster upgrade`,
      );
    }
    const newer = engineAt(undefined);
    run(newer, 'BF.ADD k a');
    expect(refusal(engine, ['RESTORE', 'k', '0', run(newer, 'DUMP k') as string])).to.equal(
      `ERR a value of type MBbloom-- needs format level ${SKETCHES_FORMAT_LEVEL}: run millrace cluster upgrade`,
    );
    expect([engine.keyspace.size, engine.effects.count]).to.deep.equal([0, 0]);
  });

  it('runs it from that level on, and in a process without levels', () => {
    for (const level of [INDEXES_FORMAT_LEVEL, FORMAT_LEVEL, undefined])
      expect(run(engineAt(level), 'ARSET k 0 a')).to.equal(1);
  });

  it('lets commands read at every level', () => {
    expect(run(engineAt(FIRST_FORMAT_LEVEL), 'ARGET k 0')).to.equal(null);
    expect(run(engineAt(FIRST_FORMAT_LEVEL), 'SET k 1')).to.equal(OK);
  });

  it('refuses the command within a script', () => {
    expect(refusal(engineAt(BELOW), ['EVAL', "return redis.call('ARSET', 'k', '0', 'a')", '1', 'k'])).to.contain(
      `ARSET needs format level ${INDEXES_FORMAT_LEVEL}`,
    );
  });

  it('refuses a RESTORE of such a value, and keeps the value that it would replace', () => {
    const newer = engineAt(undefined);
    run(newer, 'ARSET k 0 a');
    const payload = run(newer, 'DUMP k') as string;
    const engine = engineAt(BELOW);
    run(engine, 'SET k old');
    expect(refusal(engine, ['RESTORE', 'k', '0', payload, 'REPLACE'])).to.equal(
      `ERR a value of ARMSET needs format level ${INDEXES_FORMAT_LEVEL}: run millrace cluster upgrade`,
    );
    expect(run(engine, 'GET k')).to.equal('old');
  });

  it('replays an effect at every level: it was stored when the level permitted it', () => {
    const engine = engineAt(FIRST_FORMAT_LEVEL);
    engine.replay(['ARSET', 'k', '0', 'a']);
    expect(run(engine, 'ARGET k 0')).to.equal('a');
  });

  it('is a number up to the highest one, for writes alone', () => {
    const gated = allCommands().filter(({ formatLevel }) => formatLevel !== undefined);
    expect(gated.length).to.be.above(10);
    for (const { name, flags, formatLevel } of gated) {
      expect(flags, name).to.include('write');
      expect(formatLevel, name).to.be.within(FIRST_FORMAT_LEVEL + 1, FORMAT_LEVEL);
    }
  });
});
