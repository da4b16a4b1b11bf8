/**
 * A round of a continuous copy: the messages that journals and logs got since the round before, as files in the folder of a
 * full backup, and a manifest that names them. The manifest is written last, so a round without it does not exist.
 *
 *  RMF1 names of files and manifests have an id that is new in each round: no file is written twice, also not by two processes
 *      that copy at the same time
 *  RMF2 rounds may overlap: messages of a position are the same in each of them
 */
import type { ShardName } from '../../kernel/index.js';
import type { BackupFiles, FileRef } from '../../ports/index.js';
import type { BackupHead } from './backup-manifest.js';
import { ofThisRelease, readChecked, writeChecked } from './checked-json.js';

/** The messages of a shard from one position to another, both inclusive. */
export interface CopiedRange {
  readonly shard: ShardName;
  readonly from: number;
  readonly to: number;
  /** The entry that ends at `to`; undefined for intakes and the meter's log. */
  readonly head?: BackupHead;
  /** When the last message was stored. */
  readonly storedAtMs: number;
  readonly files: readonly FileRef[];
}

export interface RoundManifest {
  readonly format: number;
  readonly clusterId: string;
  /** The clock before the first end was read: everything that was stored before is in this round or an earlier one. */
  readonly asOfMs: number;
  readonly id: string;
  /** For each shard the last position that is in this round or an earlier one. */
  readonly ends: Readonly<Record<ShardName, number>>;
  readonly ranges: readonly CopiedRange[];
}

const FOLDER = 'rounds/';
const NAME = /^rounds\/([0-9]{15})-[A-Za-z0-9]+\.json$/;
/** Milliseconds until the year 5138. */
const TIME_DIGITS = 15;
/** Requests for manifests at the same time: a day has up to 17,000 of them. */
const READ_TOGETHER = 16;

/** A round as the list of files shows it. */
export interface RoundName {
  readonly name: string;
  readonly asOfMs: number;
}

/** @returns the bytes written */
export function writeRound(files: BackupFiles, round: RoundManifest): Promise<number> {
  const time = String(round.asOfMs).padStart(TIME_DIGITS, '0');
  return writeChecked(files, `${FOLDER}${time}-${round.id}.json`, round);
}

/** In the order of their times. */
export async function roundsIn(files: BackupFiles): Promise<readonly RoundName[]> {
  const found = await files.list(FOLDER);
  return found.flatMap((name) => {
    const time = NAME.exec(name)?.[1];
    return time === undefined ? [] : [{ name, asOfMs: Number(time) }];
  });
}

/** In the order of the names. @throws JOURNAL_DAMAGED, NEWER_FORMAT */
export async function readRounds(files: BackupFiles, names: readonly RoundName[]): Promise<readonly RoundManifest[]> {
  const rounds: RoundManifest[] = [];
  for (let at = 0; at < names.length; at += READ_TOGETHER) {
    const some = names.slice(at, at + READ_TOGETHER);
    const read = await Promise.all(some.map(({ name }) => readChecked<RoundManifest>(files, name, name)));
    rounds.push(...read.filter((round) => round !== undefined).map(ofThisRelease));
  }
  return rounds;
}
