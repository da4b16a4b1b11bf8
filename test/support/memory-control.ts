/** A control actor without a journal, which decides on an in-memory state without delay. */
import type { ControlClient } from '../../src/actors/control/index.js';
import {
  type ControlCommand,
  type ControlReply,
  ControlState,
  decide,
  evolve,
} from '../../src/domain/control/index.js';
import type { Sealing } from '../../src/ports/index.js';

export class MemoryControl implements ControlClient {
  readonly state = new ControlState();
  readonly asked: ControlCommand[] = [];
  nowMs = 1_767_225_600_000;

  async send(command: ControlCommand): Promise<ControlReply> {
    this.asked.push(command);
    const { reply, events } = decide(command, this.state, { nowMs: this.nowMs });
    for (const event of events) evolve(this.state, event);
    return reply;
  }
}

/** A sealing that only adds the key's name, so that tests see sealed texts and their key. */
export function namedSealing(name = 'key'): Sealing {
  return {
    seal: (text) => `${name}:${Buffer.from(text).toString('hex')}`,
    open: (sealed) => {
      if (!sealed.startsWith(`${name}:`)) throw new Error('sealed with another key');
      return Buffer.from(sealed.slice(name.length + 1), 'hex').toString();
    },
  };
}
