/**
 * Those who listen to a database: subscribers of channels and patterns. Known to the owner of the
 * database's first partition; everywhere else the audience is empty.
 */
import type { ByteString } from '../../kernel/index.js';
import type { PermissionDenied } from './acl/permission-denied.js';
import type { CommandSpec } from './command-spec.js';

export interface Audience {
  /** Hands the message to everyone who listens, behind what the command depends on. @returns how many do */
  publish(channel: ByteString, payload: ByteString, isSharded: boolean): number;
  /** Channels somebody is subscribed to by name. */
  channels(isSharded: boolean): Iterable<ByteString>;
  subscribersOf(channel: ByteString, isSharded: boolean): number;
  /** How many different patterns somebody is subscribed to. */
  readonly patternCount: number;
  /** Commands that write are held up somewhere: what there is stays as it is, nothing expires or is evicted. */
  readonly isPaused?: boolean;
  /** Clients whose commands are held up. */
  readonly heldClients?: number;
  /** What is said from now on is of something that is not done yet: it goes no further before `letGo`. */
  hold?(): void;
  letGo?(): void;
  /** This is called instead of `letGo`, when what it was about did not happen. */
  unsay?(): void;
  /** A script was refused a command, for ACL LOG. */
  noteScriptDenial?(denial: PermissionDenied): void;
  /** A script is about to run a command: for those who watch all commands, or cache what it reads. */
  noteScriptCall?(spec: CommandSpec, words: readonly ByteString[]): void;
}

export const NO_AUDIENCE: Audience = {
  publish: () => 0,
  channels: () => [],
  subscribersOf: () => 0,
  patternCount: 0,
};
