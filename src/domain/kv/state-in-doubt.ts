import type { ErrorReply } from './reply.js';

/**
 * Thrown by a handler that was stopped half-way, having changed more than could be taken back: the partition's state
 * is in doubt, and has to be built again from the journal without that.
 */
export class StateInDoubt extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}
