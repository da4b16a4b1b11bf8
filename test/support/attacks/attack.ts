/**
 * The interface of an attack: its actions, the answers that it expects, and the cleanup that the owner of the account
 * would do.
 */
import type { RespClient } from '../resp-client.js';
import type { Attacker } from './attacker.js';

export interface Attack {
  /** The attack as a noun phrase: it follows "withstand an attack on memory,". */
  readonly title: string;
  /**
   * Resolves when the attack is complete. @throws if the server did not refuse the attack, or refused it without a
   * clear error
   */
  run(attacker: Attacker): Promise<void>;
  undo?(attacker: Attacker): Promise<unknown>;
}

export const MIB = 1024 * 1024;

/** Accepted refusals: an error reply or a closed connection. The caller checks first that the process still runs. */
export const KV_REFUSALS = /ERR|OOM|BUSY|closed/;

/** The number of answers that the second tenant gets in about two seconds. */
export const A_WHILE = 500;

/** Empties the attacker's database, as its owner would do after the attack. */
export function flush(attacker: Attacker): Promise<unknown> {
  return attacker.rest(['FLUSHALL']);
}

/** Sends commands one by one until the server refuses one. @returns the refusal */
export async function sendUntilRefused(
  client: RespClient,
  most: number,
  words: (at: number) => readonly string[],
): Promise<string> {
  for (let at = 0; at < most; at += 1) {
    const reply = await client.call(words(at)).catch((error: Error) => `-${error.message}`);
    if (reply.startsWith('-')) return reply;
  }
  throw new Error(`none of ${most} commands was refused`);
}
