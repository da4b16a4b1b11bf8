/**
 * The clients that listen to a database: subscribers of channels and patterns, monitors. Only the owner of the
 * database's first partition knows them; elsewhere the audience is empty.
 */
import type { ByteString } from '../../kernel/index.js';
import type { PermissionDenied } from './acl/permission-denied.js';
import type { CommandDescription } from './command-description.js';

export interface Audience {
  /**
   * Sends the message to all subscribers, after the entry that the command depends on is stored. @returns the number of
   * receivers
   */
  publish(channel: ByteString, payload: ByteString, isSharded: boolean): number;
  /** Channels with at least one subscriber by name. */
  channels(isSharded: boolean): Iterable<ByteString>;
  subscribersOf(channel: ByteString, isSharded: boolean): number;
  /** The number of different patterns with a subscriber. */
  readonly patternCount: number;
  /** CLIENT PAUSE holds up write commands: keys neither expire nor are evicted until it ends. */
  readonly isPaused?: boolean;
  /** The number of clients with held-up commands. */
  readonly heldClients?: number;
  /** Holds back later messages until `letGo`, because the run that sends them is not finished. */
  hold?(): void;
  letGo?(): void;
  /** Drops the held messages instead, when the run was undone. */
  unsay?(): void;
  /** Records a command that was refused to a script, for ACL LOG. */
  noteScriptDenial?(denial: PermissionDenied): void;
  /** Announces a command of a script, for monitors and for client-side caching. */
  noteScriptCall?(spec: CommandDescription, words: readonly ByteString[]): void;
}

export const NO_AUDIENCE: Audience = {
  publish: () => 0,
  channels: () => [],
  subscribersOf: () => 0,
  patternCount: 0,
};
