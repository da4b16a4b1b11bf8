/**
 * An in-memory network. `MemoryNetwork` connects all simulated processes, each of which has its own `MemoryBus`.
 * Messages arrive in order, each in a new call stack.
 *
 *  MB1 a published message reaches every subscriber, including those of the publisher
 *  MB2 a request reaches every process that serves the topic; the first answer counts
 *  MB3 a disconnected bus neither sends nor receives; messages of that time are lost
 */
import { MillraceError } from '../../../src/kernel/index.js';
import type { Bus, ServedTopic, Subscription, Timers, Topic } from '../../../src/ports/index.js';

type Handler = (payload: Uint8Array) => Promise<Uint8Array>;

interface Served {
  readonly bus: MemoryBus;
  readonly handler: Handler;
}

interface Subscribed {
  readonly bus: MemoryBus;
  readonly onMessage: (payload: Uint8Array) => void;
}

export class MemoryNetwork {
  readonly subscribers = new Registry<Subscribed>();
  readonly services = new Registry<Served>();

  constructor(readonly timers: Timers) {}

  connect(): MemoryBus {
    return new MemoryBus(this);
  }
}

export class MemoryBus implements Bus {
  private connected = true;

  constructor(private readonly network: MemoryNetwork) {}

  publish(topic: Topic, payload: Uint8Array): void {
    if (!this.connected) return;
    for (const subscribed of this.network.subscribers.at(topic)) {
      const copy = new Uint8Array(payload);
      this.network.timers.soon(() => {
        const stillThere = this.network.subscribers.at(topic).includes(subscribed);
        if (stillThere && subscribed.bus.connected) subscribed.onMessage(copy);
      });
    }
  }

  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription {
    return this.network.subscribers.add(topic, { bus: this, onMessage });
  }

  serve(topic: Topic, onRequest: Handler): ServedTopic {
    return { ...this.network.services.add(topic, { bus: this, handler: onRequest }), yield: () => {} };
  }

  request(topic: Topic, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const name = nameOf(topic);
    const services = this.network.services.at(topic).filter((service) => service.bus.connected);
    if (this.connected && services.length === 0) {
      return Promise.reject(
        new MillraceError('SHARD_UNAVAILABLE', `nobody serves ${name}`, { topic: name, isUnserved: true }),
      );
    }
    return new Promise((resolve, reject) => {
      const timer = this.network.timers.after(timeoutMs, () =>
        reject(new MillraceError('TIMED_OUT', `no answer from ${name} in ${timeoutMs} ms`, { topic: name, timeoutMs })),
      );
      if (!this.connected) return;
      for (const service of services) {
        const copy = new Uint8Array(payload);
        this.network.timers.soon(() => {
          if (!service.bus.connected) return;
          answerOf(service.handler, copy).then((settle) => {
            if (!service.bus.connected || !this.connected) return;
            timer.cancel();
            settle(resolve, reject);
          });
        });
      }
    });
  }

  isConnected(): boolean {
    return this.connected;
  }

  setConnected(connected: boolean): void {
    this.connected = connected;
  }
}

type Settle = (resolve: (reply: Uint8Array) => void, reject: (error: unknown) => void) => void;

/** Errors are sent as code, message and details, without stack and cause. */
async function answerOf(handler: Handler, payload: Uint8Array): Promise<Settle> {
  try {
    const reply = new Uint8Array(await handler(payload));
    return (resolve) => resolve(reply);
  } catch (error) {
    const travelled =
      error instanceof MillraceError
        ? new MillraceError(error.code, error.message, { ...error.details })
        : new MillraceError('DEFECT', error instanceof Error ? error.message : String(error));
    return (_, reject) => reject(travelled);
  }
}

class Registry<T> {
  private readonly byName = new Map<string, T[]>();

  add(topic: Topic, item: T): Subscription {
    const name = nameOf(topic);
    this.byName.set(name, [...(this.byName.get(name) ?? []), item]);
    return {
      stop: () => {
        const rest = (this.byName.get(name) ?? []).filter((other) => other !== item);
        if (rest.length > 0) this.byName.set(name, rest);
        else this.byName.delete(name);
      },
    };
  }

  at(topic: Topic): readonly T[] {
    return this.byName.get(nameOf(topic)) ?? [];
  }
}

export function nameOf(topic: Topic): string {
  switch (topic.kind) {
    case 'command':
    case 'notice':
      return `${topic.kind} ${topic.shard}`;
    case 'edge':
    case 'session':
      return `${topic.kind} ${topic.session}`;
    case 'heartbeat':
    case 'query':
    case 'access':
    case 'search':
      return topic.kind;
  }
}
