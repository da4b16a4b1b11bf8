/** Tells processes what their clients listen to: this one straight away, others over the bus. */
import { decodeKvDelivery, encodeKvDelivery } from '../../codec/remote/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { KvDelivery } from '../../messages/index.js';
import type { Bus, Subscription } from '../../ports/index.js';

/** Who hears for the clients of one process. */
export interface Hearer {
  readonly edge: SessionId;
  receive(delivery: KvDelivery): void;
}

export class KvDeliveries {
  readonly #here = new Map<SessionId, Hearer>();

  constructor(private readonly bus: Bus) {}

  deliver(edge: SessionId, delivery: KvDelivery): void {
    const hearer = this.#here.get(edge);
    if (hearer !== undefined) hearer.receive(delivery);
    else this.bus.publish({ kind: 'edge', session: edge }, encodeKvDelivery(delivery));
  }

  /** From owners in this process, and from those in others. */
  hear(hearer: Hearer): Subscription {
    const { edge } = hearer;
    this.#here.set(edge, hearer);
    const heard = this.bus.subscribe({ kind: 'edge', session: edge }, (payload) =>
      hearer.receive(decodeKvDelivery(payload)),
    );
    return {
      stop: () => {
        heard.stop();
        this.#here.delete(edge);
      },
    };
  }
}
