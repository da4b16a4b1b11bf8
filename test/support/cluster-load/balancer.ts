/**
 * Who of the processes may be asked, as a balancer knows it: it looks at `/readyz/edge` of each, and leaves one that is
 * not ready or lets nobody in.
 *
 *  BLC1 one that refused a connection, or whose look failed, gets no new call before a look succeeds
 *  BLC2 while nobody is ready everybody is tried, in turn
 */
import type { MillraceProcess } from '../millrace-process.js';

/** As often as balancers commonly look, and a little oftener: what is measured is the product. */
const LOOK_EVERY_MS = 250;
const LOOK_TIMEOUT_MS = 500;

export interface Backend {
  readonly name: string;
  readonly process: Pick<MillraceProcess, 'addresses' | 'metricsUrl'>;
  isReady: boolean;
}

/** Whoever says where a call goes. */
export interface Entrance {
  /** @param home where a client would like to go. @param tried who let it down within this call */
  pick(home: number, tried: ReadonlySet<Backend>): Backend | undefined;
  /** It refused a connection. */
  leave(backend: Backend): void;
}

export class Balancer implements Entrance {
  readonly #backends: Backend[] = [];
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  /** When a process was seen to become ready, or not ready, with wall milliseconds. */
  readonly turns: { readonly name: string; readonly isReady: boolean; readonly atMs: number }[] = [];

  add(name: string, process: MillraceProcess): void {
    this.remove(name);
    this.#backends.push({ name, process, isReady: true });
    this.#backends.sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Whoever is gone for good; one that will come back on its ports may stay. */
  remove(name: string): void {
    const at = this.#backends.findIndex((backend) => backend.name === name);
    if (at >= 0) this.#backends.splice(at, 1);
  }

  pick(home: number, tried: ReadonlySet<Backend>): Backend | undefined {
    const { length } = this.#backends;
    const inTurn = this.#backends.map((_, at) => this.#backends[(home + at) % length] as Backend);
    const left = inTurn.filter((backend) => !tried.has(backend));
    return left.find(({ isReady }) => isReady) ?? left[0];
  }

  /** BLC1. */
  leave(backend: Backend): void {
    this.#turn(backend, false);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const backend of this.#backends) {
      const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
      fetch(`${backend.process.metricsUrl}/readyz/edge`, { signal }).then(
        async (answer) => {
          await answer.arrayBuffer();
          this.#turn(backend, answer.status === 200);
        },
        () => this.#turn(backend, false),
      );
    }
  }

  #turn(backend: Backend, isReady: boolean): void {
    if (backend.isReady === isReady) return;
    backend.isReady = isReady;
    this.turns.push({ name: backend.name, isReady, atMs: Date.now() });
  }
}
