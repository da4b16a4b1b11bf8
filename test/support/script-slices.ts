/** Runs scripts in one slice and in several, which must give the same results. */
import { expect } from 'chai';
import {
  admit,
  type CommandSpec,
  digestOf,
  KvEngine,
  Paused,
  type Reply,
  type ServerInfo,
} from '../../src/domain/kv/index.js';
import { readable, seededRandom } from './kv-bench.js';
import { NOW } from './kv-case.js';

/** An engine with slices that end at each check, if it may pause. */
export class ScriptStand {
  readonly engine: KvEngine;
  pauses = 0;
  #looks = 0;

  constructor(
    readonly mayPause: boolean,
    filled: readonly (readonly string[])[] = [],
  ) {
    const server: ServerInfo = {
      nowMicros: () => {
        this.#looks += 1;
        return this.mayPause ? this.#looks * 6000 : 0;
      },
      workedMicros: () => 0,
      info: () => new Map(),
    };
    this.engine = new KvEngine(seededRandom(1), server);
    for (const words of filled) this.engine.execute(admit(words) as CommandSpec, words, NOW);
    this.engine.effects.take();
  }

  /** @param atMost the number of pauses after which the script is stopped */
  run(words: readonly string[], atMost = Number.POSITIVE_INFINITY): unknown {
    const { engine } = this;
    const caller = { mayPause: this.mayPause };
    const answer = engine.execute(admit(words) as CommandSpec, words, NOW, caller);
    this.pauses = 0;
    if (!(answer instanceof Paused)) return readable(answer as Reply);
    const rest = engine.rest(answer, words, caller);
    for (;;) {
      this.pauses += 1;
      // A plain comparison, because chai would take longer than a slice.
      if (engine.effects.take().length > 0) throw new Error('a script that has paused recorded effects');
      if (this.pauses > atMost) return readable(rest.stop('it was killed'));
      const reply = rest.next(NOW);
      if (reply !== undefined) return readable(reply);
    }
  }

  look(): unknown {
    const { keyspace } = this.engine;
    return [digestOf(this.engine), keyspace.size, keyspace.bytes, keyspace.expiring];
  }
}

/** Runs a script in one slice and in several. @param filled commands that fill both databases first */
export function inBothWays(
  words: readonly string[],
  filled: readonly (readonly string[])[] = [],
): { reply: unknown; pauses: number } {
  const whole = new ScriptStand(false, filled);
  const sliced = new ScriptStand(true, filled);
  const reply = sliced.run(words);
  expect(reply).to.deep.equal(whole.run(words));
  expect(sliced.look()).to.deep.equal(whole.look());
  return { reply, pauses: sliced.pauses };
}
