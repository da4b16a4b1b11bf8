/**
 * The load balancer of the tests: it polls `/readyz/edge` of each process, and stops sending calls to a process that
 * is not ready or refuses connections.
 *
 *  BLC1 a process that refused a connection, or failed a health check, gets no new call until a health check succeeds
 *  BLC2 while no process is ready, all processes are tried in turn
 */
import type { MillraceProcess } from '../millrace-process.js';

/**
 * The interval of the health checks, somewhat shorter than the usual one, because the product is measured and not the
 * balancer.
 */
const LOOK_EVERY_MS = 250;
const LOOK_TIMEOUT_MS = 500;

export interface Backend {
  readonly name: string;
  readonly process: Pick<MillraceProcess, 'addresses' | 'metricsUrl'>;
  isReady: boolean;
}

/** The interface that chooses the process of a call. */
export interface Entrance {
  /**
   * @param home the index of the process that the client prefers. @param tried processes that failed within this call
   */
  pick(home: number, tried: ReadonlySet<Backend>): Backend | undefined;
  /** Reports that a process refused a connection. */
  leave(backend: Backend): void;
}

export class Balancer implements Entrance {
  readonly #backends: Backend[] = [];
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  /** The changes of readiness of each process, with wall-clock milliseconds. */
  readonly turns: { readonly name: string; readonly isReady: boolean; readonly atMs: number }[] = [];

  add(name: string, process: MillraceProcess): void {
    this.remove(name);
    this.#backends.push({ name, process, isReady: true });
    this.#backends.sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Removes a process that has ended for good. A process that restarts on its ports may stay. */
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
