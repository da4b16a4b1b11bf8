/** What an attack is: what its attacker does, what it expects to be told, and what its owner would do afterwards. */
import type { RespClient } from '../resp-client.js';
import type { Attacker } from './attacker.js';

export interface Attack {
  /** The attack as a noun phrase: it follows "withstand an attack on memory,". */
  readonly title: string;
  /** Resolves once the attacker has done what it can. @throws when it was not refused, or was told nothing clear */
  run(attacker: Attacker): Promise<void>;
  undo?(attacker: Attacker): Promise<unknown>;
}

export const MIB = 1024 * 1024;

/** In words, or by ending the connection; that the process has not ended is looked at first. */
export const KV_REFUSALS = /ERR|OOM|BUSY|closed/;

/** Answers to the second tenant: some two seconds of its work. */
export const A_WHILE = 500;

/** What an owner does about a database that an attack has filled. */
export function emptied(attacker: Attacker): Promise<unknown> {
  return attacker.rest(['FLUSHALL']);
}

/** One after the other until one is refused. @returns the refusal */
export async function untilRefused(
  client: RespClient,
  most: number,
  words: (at: number) => readonly string[],
): Promise<string> {
  for (let at = 0; at < most; at += 1) {
    const reply = await client.call(words(at)).catch((error: Error) => `-${error.message}`);
    if (reply.startsWith('-')) return reply;
  }
  throw new Error(`${most} of them were taken`);
}
