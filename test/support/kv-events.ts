/** An engine with a listener for all keyspace events. */
import { type Audience, findCommand, KvEngine, NO_AUDIENCE } from '../../src/domain/kv/index.js';
import { seededRandom } from './kv-bench.js';
import { NOW, wordsOf } from './kv-case.js';

export class KvEventsBench {
  readonly #heard: string[] = [];
  readonly engine: KvEngine;

  /** @param events the value of the parameter notify-keyspace-events */
  constructor(events = 'AE') {
    const audience: Audience = {
      ...NO_AUDIENCE,
      publish: (channel, key) => {
        this.#heard.push(`${channel.replace('__keyevent@0__:', '')} ${key}`);
        return 0;
      },
    };
    this.engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() }, audience);
    this.engine.settings.set('notify-keyspace-events', events);
  }

  /** @returns the events of the command, each with its key */
  line(line: string): string[] {
    return this.run(wordsOf(line, NOW));
  }

  run(words: readonly string[]): string[] {
    const spec = findCommand(words);
    if (spec === undefined) throw new Error(words.join(' '));
    this.engine.execute(spec, words, NOW);
    return this.heard();
  }

  /** The events since the previous call. */
  heard(): string[] {
    return this.#heard.splice(0);
  }
}
