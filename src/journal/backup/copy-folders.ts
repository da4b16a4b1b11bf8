/**
 * The folders of a place with backups. A folder has one full backup, and the rounds of a continuous copy that began with it.
 * Its name has installation and time, so that an installation finds, and removes, only folders that it made.
 */
import { MillraceError } from '../../kernel/index.js';
import type { BackupFiles, BackupPlace } from '../../ports/index.js';
import { type BackupManifest, readManifest } from './backup-manifest.js';
import { manifestAt } from './moment-of-copy.js';
import { type RoundName, readRounds, roundsIn } from './round-manifest.js';

export interface CopyFolder {
  readonly folder: string;
  readonly clusterId: string;
  /** When the full backup began, to the second. */
  readonly madeAtMs: number;
}

/** A folder with its complete full backup. */
export interface CopyInFolder extends CopyFolder {
  readonly files: BackupFiles;
  readonly base: BackupManifest;
  readonly rounds: readonly RoundName[];
  /** The last moment that it has. */
  readonly untilMs: number;
}

/** Decrypts if needed. @throws BAD_CONFIG for another key */
export type OpenFiles = (files: BackupFiles) => Promise<BackupFiles>;

export interface CopyAtMoment {
  readonly files: BackupFiles;
  readonly manifest: BackupManifest;
}

const FOLDER = /^([A-Za-z0-9_-]+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]+$/;
/** An entry may be stored this long after its clock was read: a stalled owner loses its shard earlier. */
const LATEST_MS = 60_000;

export function folderName(clusterId: string, madeAtMs: number, id: string): string {
  const time = new Date(madeAtMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `${clusterId}-${time}-${id}`;
}

/** Newest first. */
export async function foldersIn(place: BackupPlace): Promise<readonly CopyFolder[]> {
  const found = (await place.folders()).flatMap((folder) => {
    const [, clusterId, ...time] = FOLDER.exec(folder) ?? [];
    if (clusterId === undefined) return [];
    const [year, month, day, hour, minute, second] = time.map(Number) as [number, number, number, ...number[]];
    return [{ folder, clusterId, madeAtMs: Date.UTC(year, month - 1, day, hour, minute, second) }];
  });
  return found.sort((a, b) => b.madeAtMs - a.madeAtMs);
}

/** Undefined when the full backup of the folder is not complete. @throws BAD_CONFIG, JOURNAL_DAMAGED */
export async function copyIn(
  place: BackupPlace,
  named: CopyFolder,
  open: OpenFiles,
): Promise<CopyInFolder | undefined> {
  const stored = place.filesOf(named.folder);
  if ((await stored.read('manifest.json')) === undefined) return undefined;
  const files = await open(stored);
  const base = await readManifest(files);
  const rounds = await roundsIn(files);
  return { ...named, files, base, rounds, untilMs: rounds.at(-1)?.asOfMs ?? base.startedAtMs };
}

/**
 * The backup of a place: that of the place itself, or the one of its folders that has the moment. Without a moment: the one
 * that ends last.
 * @throws INVALID when there is none, or several installations have copies there; BAD_CONFIG, JOURNAL_DAMAGED
 */
export async function backupAt(place: BackupPlace, open: OpenFiles, atMs: number | undefined): Promise<CopyAtMoment> {
  const folders = await foldersIn(place);
  if (folders.length === 0) return ofFiles(await open(place.filesOf('')), atMs);
  const clusters = new Set(folders.map(({ clusterId }) => clusterId));
  if (clusters.size > 1) {
    const names = [...clusters].map((cluster) => folders.find(({ clusterId }) => clusterId === cluster)?.folder);
    const message = `${place.label} has backups of ${clusters.size} installations: add a folder, such as ${names.join(' or ')}`;
    throw new MillraceError('INVALID', message);
  }
  const copies: CopyInFolder[] = [];
  for (const folder of folders) {
    const copy = await copyIn(place, folder, open);
    if (copy === undefined) continue;
    copies.push(copy);
    if (atMs !== undefined && has(copy, atMs)) return atMoment(copy, atMs);
  }
  const [last] = copies.sort((a, b) => b.untilMs - a.untilMs);
  if (last === undefined) throw new MillraceError('INVALID', `${place.label} has no complete backup`);
  if (atMs !== undefined) throw outside(last, copies.at(-1) ?? last);
  return atMoment(last, atMs);
}

async function ofFiles(files: BackupFiles, atMs: number | undefined): Promise<CopyAtMoment> {
  const base = await readManifest(files);
  const rounds = await roundsIn(files);
  const untilMs = rounds.at(-1)?.asOfMs ?? base.startedAtMs;
  const copy = { folder: '', clusterId: base.clusterId, madeAtMs: base.startedAtMs, files, base, rounds, untilMs };
  if (atMs !== undefined && !has(copy, atMs)) throw outside(copy, copy);
  return atMoment(copy, atMs);
}

/** Entries of the full backup itself are not cut. */
function has({ base, untilMs }: CopyInFolder, atMs: number): boolean {
  return beginOf(base) <= atMs && atMs <= untilMs;
}

/** The first moment that a folder has. */
export function beginOf({ journals, startedAtMs }: BackupManifest): number {
  return Math.max(startedAtMs, ...journals.map(({ head }) => head.clockMs));
}

async function atMoment({ files, base, rounds }: CopyInFolder, atMs: number | undefined): Promise<CopyAtMoment> {
  const wanted = atMs === undefined ? rounds : upTo(rounds, atMs);
  return { files, manifest: await manifestAt(files, base, await readRounds(files, wanted), atMs) };
}

function upTo(rounds: readonly RoundName[], atMs: number): readonly RoundName[] {
  const after = rounds.findIndex(({ asOfMs }) => asOfMs >= atMs + LATEST_MS);
  return after === -1 ? rounds : rounds.slice(0, after + 1);
}

function outside(last: CopyInFolder, first: CopyInFolder): MillraceError {
  const [from, to] = [beginOf(first.base), last.untilMs].map((ms) => new Date(ms).toISOString());
  return new MillraceError('INVALID', `no backup has that moment: there are moments from ${from} to ${to}`);
}
