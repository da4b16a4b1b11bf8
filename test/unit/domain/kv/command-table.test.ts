/** The engine receives its table: it has exactly the commands of that table. */
import { expect } from 'chai';
import { NO_AUDIENCE } from '../../../../src/domain/kv/audience.js';
import { CommandTable } from '../../../../src/domain/kv/command-table.js';
import { admit, type CommandSpec, ErrorReply, findCommand, KvEngine } from '../../../../src/domain/kv/index.js';
import { seededRandom } from '../../../support/kv-bench.js';

describe('a table of commands', () => {
  const rows = ['SET', 'COMMAND COUNT', 'EVAL', 'DEL'].map((name) => findCommand(name.split(' ')) as CommandSpec);
  const table = new CommandTable(rows);
  const engineOf = (commands?: CommandTable) =>
    new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() }, NO_AUDIENCE, commands);
  const run = (engine: KvEngine, words: string[]) => engine.execute(admit(words) as CommandSpec, words, 1);

  it('finds its own commands and no others', () => {
    expect(table.find(['set', 'k', 'v'])?.name).to.equal('SET');
    expect(table.find(['GET', 'k'])).to.equal(undefined);
    expect(table.admit(['SET', 'k'])).to.be.instanceOf(ErrorReply);
    expect(table.admit(['GET', 'k'])).to.be.instanceOf(ErrorReply);
  });

  it('gives every row the same fields, in one order', () => {
    const fields = Object.keys(table.rows[0] as CommandSpec);
    for (const row of table.rows) expect(Object.keys(row), row.name).to.deep.equal(fields);
  });

  it('derives fields of each row from its flags', () => {
    const said = table.rows.map(({ name, isWriting, mayGrow, runsScript }) => ({
      name,
      isWriting,
      mayGrow,
      runsScript,
    }));
    expect(said).to.deep.equal([
      { name: 'SET', isWriting: true, mayGrow: true, runsScript: false },
      { name: 'COMMAND COUNT', isWriting: false, mayGrow: false, runsScript: false },
      { name: 'EVAL', isWriting: false, mayGrow: false, runsScript: true },
      { name: 'DEL', isWriting: true, mayGrow: false, runsScript: false },
    ]);
  });

  it('decides the commands of an engine and of its scripts', () => {
    const engine = engineOf(table);
    expect(run(engine, ['COMMAND', 'COUNT'])).to.equal(4);
    expect(run(engine, ['EVAL', "return redis.call('SET', KEYS[1], 'v')", '1', 'k'])).to.not.be.instanceOf(ErrorReply);
    const refused = run(engine, ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'k']) as ErrorReply;
    expect(refused.text).to.contain('Unknown Redis command called from script');
  });

  it('decides the effects that can be replayed', () => {
    expect(() => engineOf(table).replay(['RPUSH', 'k', 'v'])).to.throw(
      'the effect RPUSH, which this program does not know',
    );
    expect(() => engineOf().replay(['RPUSH', 'k', 'v'])).to.not.throw();
  });
});
