/**
 * Clients: each sends one operation after the other to the gateway of a randomly chosen process, and records the
 * answers.
 */

import type { DatabaseId, PartitionName } from '../../src/kernel/index.js';
import type { KvGateway } from '../../src/ports/index.js';
import { commandsOf, type Ending, endingOfFailure, endingOfResponse, type History, type Input } from './history.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimProcess } from './sim-process.js';

export interface Server {
  readonly process: SimProcess;
  readonly gateway: KvGateway;
}

export interface Place {
  readonly key: string;
  readonly kind: 'register' | 'counter';
  readonly database: DatabaseId;
  readonly partition: PartitionName;
}

/** The time after which a client continues with another operation; the earlier one stays open. */
const PATIENCE_MS = 8000;
/** The size of occasional large values; their entry must be split into chunks. */
const LARGE_VALUE_BYTES = 700;

export class Client {
  private written = 0;
  private lastSeen = new Map<string, string>();
  private isDone = false;

  constructor(
    private readonly name: string,
    private readonly places: readonly Place[],
    private readonly servers: () => readonly Server[],
    private readonly history: History,
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly thinkMs: number,
  ) {}

  start(): void {
    this.scheduler.at(this.scheduler.nowMs + this.random.between(0, 1000), undefined, 'timer', this.name, () =>
      this.act(),
    );
  }

  stop(): void {
    this.isDone = true;
  }

  private act(): void {
    if (this.isDone) return;
    const servers = this.servers();
    const place = this.random.pick(this.places);
    if (servers.length === 0) {
      this.actAfterPause();
      return;
    }
    let hasMovedOn = false;
    const moveOn = () => {
      if (hasMovedOn) return;
      hasMovedOn = true;
      patience.cancel();
      this.actAfterPause();
    };
    const patience = this.scheduler.at(
      this.scheduler.nowMs + PATIENCE_MS,
      undefined,
      'timer',
      `${this.name} gives up`,
      moveOn,
    );
    this.ask(place, this.inputFor(place), this.random.pick(servers), moveOn);
  }

  /** Sends the operation to the process as an event; a paused process executes it when it resumes. */
  ask(place: Place, input: Input, server: Server, onEnd: (ending: Ending) => void): void {
    const { scheduler } = this;
    const commands = commandsOf(place.key, input);
    scheduler.at(scheduler.nowMs + this.random.between(0.05, 1), server.process, 'message', `${this.name} asks`, () => {
      const attempt = this.history.begin(this.name, place.key, input, server.process.name, scheduler.eventsRun);
      const bytes = commands.flat().reduce((sum, word) => sum + word.length, 0);
      const mode = commands.length === 1 ? ('single' as const) : ('transaction' as const);
      const request = { database: place.database, partition: place.partition, mode, commands, bytes };
      const end = (ending: Ending) => {
        attempt.ending = ending;
        attempt.endedAt = scheduler.eventsRun;
        if (ending.kind === 'answered' && typeof ending.output === 'string')
          this.lastSeen.set(place.key, ending.output);
        if (ending.kind === 'answered' && input.type === 'set') this.lastSeen.set(place.key, input.value);
        const told = ending.kind === 'answered' ? JSON.stringify(ending.output).slice(0, 40) : inWords(ending);
        scheduler.trace.note(this.name, `${commands.flat().join(' ').slice(0, 60)} at ${server.process.name}: ${told}`);
        onEnd(ending);
      };
      server.gateway.execute(request).then(
        (response) => end(endingOfResponse(response)),
        (error: unknown) => end(endingOfFailure(error)),
      );
    });
  }

  private actAfterPause(): void {
    const thinkMs = this.random.between(0, 2 * this.thinkMs);
    this.scheduler.at(this.scheduler.nowMs + thinkMs, undefined, 'timer', this.name, () => this.act());
  }

  private inputFor({ key, kind }: Place): Input {
    if (this.random.chance(0.4)) return { type: 'get' };
    if (kind === 'counter') return { type: 'incrby', by: 1 + this.random.below(2) };
    if (this.random.chance(0.1)) return { type: 'del' };
    this.written += 1;
    const padding = this.random.chance(0.05) ? '.'.repeat(LARGE_VALUE_BYTES) : '';
    const value = `<${this.name}-${this.written}>${padding}`;
    const expected = this.lastSeen.get(key);
    return expected !== undefined && this.random.chance(0.4)
      ? { type: 'cas', expected, value }
      : { type: 'set', value };
  }
}

function inWords(ending: Exclude<Ending, { kind: 'answered' }>): string {
  if (ending.kind === 'failed') return `failed: ${ending.code} ${ending.message}`;
  return ending.kind === 'unknown' ? 'unknown' : `broken: ${String(ending.error)}`;
}
