/**
 * Copies an installation to a place continuously: full backups, and rounds between them.
 *
 *  CC1 a full backup is made while rounds continue, and counts from its manifest on; the rounds of the folder before end after it
 *  CC2 another process continues with the newest folder that it can read; two that copy at the same time only add to it
 *  CC3 a folder is removed when a later full backup is older than the time for which moments are kept; the newest one never is
 *  CC4 a failure is told and repeated with growing pauses; it holds up no write, because no write waits for a copy
 */
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { BackupFiles, BackupPlace, Random, Timers } from '../../ports/index.js';
import { type CopyFolder, copyIn, folderName, foldersIn } from './copy-folders.js';
import { type CopiedEnds, CopyBehind, copyRound, endsAfter, endsOf } from './copy-round.js';
import { type BackupMaker, type BackupSource, createBackup, type Installation } from './create-backup.js';
import { readRounds } from './round-manifest.js';

export interface CopyParts {
  readonly source: BackupSource;
  readonly installation: Installation;
  readonly maker: BackupMaker;
  readonly place: BackupPlace;
  readonly random: Pick<Random, 'bytes'>;
  readonly timers: Timers;
  /** Encrypts the files of a new folder, if there is a key. */
  seal(files: BackupFiles): Promise<BackupFiles>;
  /** Decrypts a folder. @throws BAD_CONFIG for another key */
  open(files: BackupFiles): Promise<BackupFiles>;
  /** @throws JOURNAL_DAMAGED when a journal lacks entries */
  check(): Promise<void>;
}

export interface CopyTimes {
  /** Between the starts of two rounds. */
  readonly roundMs: number;
  /** Between two full backups. */
  readonly fullMs: number;
  /** For so long each moment can be restored. */
  readonly keepMs: number;
}

/** The state after each attempt. */
export interface CopyNews {
  /** Everything that was stored before is in the copy; undefined: there is no copy yet. */
  readonly untilMs: number | undefined;
  /** When the newest full backup began. */
  readonly fullMs: number | undefined;
  /** Sent since the news before. */
  readonly bytes: number;
  /** The cause of the attempt's failure. */
  readonly failure: string | undefined;
}

/** The folder that rounds are added to. */
interface Current {
  readonly folder: string;
  readonly files: BackupFiles;
  readonly fullMs: number;
  ends: CopiedEnds;
  /** The end of the newest round with a manifest. */
  toldMs: number;
  /** There was no newer message then. */
  untilMs: number;
}

/** A manifest without new messages says that there were none. */
const TOLD_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
/** A full backup without a manifest is an interrupted one after this time. */
const FULL_LIMIT_MS = 86_400_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const ID_BYTES = 6;

export class ContinuousCopy {
  #current: Current | undefined;
  #isLookedFor = false;
  /** The next full backup while it is made (CC1). */
  #next: Promise<void> | undefined;
  #made: Current | undefined;
  #nextFailure: unknown;
  #fullNotBeforeMs = 0;
  #sweptAtMs = 0;
  #bytes = 0;
  #failures = 0;

  constructor(
    private readonly parts: CopyParts,
    private readonly times: CopyTimes,
    private readonly tell: (news: CopyNews) => void,
  ) {}

  /** Copies until the signal. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begunMs = this.#nowMs();
      const failure = await this.attempt();
      const took = this.#nowMs() - begunMs;
      const ms = failure === undefined ? Math.max(0, this.times.roundMs - took) : this.#backOff();
      await this.parts.timers.pause(ms, signal);
    }
  }

  /** One round, with the steps that are due. Never rejects. @returns the failure */
  async attempt(): Promise<string | undefined> {
    const failure = await this.#step().then(
      () => undefined,
      (error: unknown) => describeError(error),
    );
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    this.tell({ untilMs: this.#current?.untilMs, fullMs: this.#current?.fullMs, bytes: this.#bytes, failure });
    this.#bytes = 0;
    return failure;
  }

  async #step(): Promise<void> {
    if (!this.#isLookedFor) {
      this.#current = await this.#found();
      this.#isLookedFor = true;
    }
    this.#beginFull();
    if (this.#current === undefined) await this.#next;
    const failed = this.#nextFailure;
    this.#nextFailure = undefined;
    if (this.#current !== undefined) await this.#round(this.#current);
    if (this.#made !== undefined) {
      this.#current = this.#made;
      this.#made = undefined;
      await this.#round(this.#current);
    }
    if (failed !== undefined) throw failed;
    await this.#sweep();
  }

  /** The newest folder of this installation that can be continued (CC2). */
  async #found(): Promise<Current | undefined> {
    const { place, installation, open, source } = this.parts;
    const { clusterId } = installation;
    for (const named of await foldersIn(place)) {
      if (named.clusterId !== clusterId) continue;
      try {
        const copy = await copyIn(place, named, open);
        if (copy === undefined) continue;
        const [last] = await readRounds(copy.files, copy.rounds.slice(-1));
        const ends = last === undefined ? endsOf(copy.base) : endsAfter(last);
        const { folder, files, untilMs } = copy;
        return { folder, files, ends, untilMs, toldMs: untilMs, fullMs: copy.base.startedAtMs };
      } catch (error) {
        // A folder that another key encrypts, or that is damaged, is followed by another one.
        if (!isMillraceError(error) || error.code === 'BACKUP_UNAVAILABLE') throw error;
        source.log.warn('copy.folder-unusable', { folder: named.folder, cause: describeError(error) });
        return undefined;
      }
    }
    return undefined;
  }

  #beginFull(): void {
    if (this.#next !== undefined || this.#made !== undefined) return;
    const nowMs = this.#nowMs();
    if (nowMs < this.#fullNotBeforeMs && this.#current !== undefined) return;
    if (this.#current !== undefined && nowMs - this.#current.fullMs < this.times.fullMs) return;
    this.#next = this.#full(nowMs).then(
      (made) => {
        this.#made = made;
        this.#next = undefined;
      },
      (error: unknown) => {
        this.#nextFailure = error;
        this.#fullNotBeforeMs = this.#nowMs() + LONGEST_PAUSE_MS;
        this.#next = undefined;
      },
    );
  }

  async #full(nowMs: number): Promise<Current> {
    const { place, installation, source, maker, seal, check } = this.parts;
    await check();
    const folder = folderName(installation.clusterId, nowMs, this.#id());
    const files = await seal(place.filesOf(folder));
    const manifest = await createBackup(source, files, installation, maker);
    source.log.info('copy.full', { folder, ms: this.#nowMs() - nowMs });
    const { startedAtMs } = manifest;
    const [untilMs, toldMs, fullMs] = [startedAtMs, startedAtMs, startedAtMs];
    return { folder, files, ends: endsOf(manifest), untilMs, toldMs, fullMs };
  }

  async #round(current: Current): Promise<void> {
    const { source, installation } = this.parts;
    const place = { files: current.files, id: this.#id() };
    const isTold = this.#nowMs() - current.toldMs >= TOLD_EVERY_MS;
    try {
      const { round, bytes } = await copyRound(source, place, installation, current.ends, isTold);
      current.ends = endsAfter(round);
      current.untilMs = round.asOfMs;
      if (bytes === undefined) return;
      current.toldMs = round.asOfMs;
      this.#bytes += bytes;
    } catch (error) {
      if (!(error instanceof CopyBehind)) throw error;
      source.log.warn('copy.behind', { folder: current.folder, cause: error.message });
      if (this.#current === current) this.#current = undefined;
      throw error;
    }
  }

  /** Removes folders that no kept moment needs, and interrupted ones (CC3). */
  async #sweep(): Promise<void> {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sweptAtMs < SWEEP_EVERY_MS) return;
    this.#sweptAtMs = nowMs;
    const { place, installation, source } = this.parts;
    const own = (await foldersIn(place)).filter(({ clusterId }) => clusterId === installation.clusterId);
    let hasNewer = false;
    for (const { folder, madeAtMs } of own) {
      const isComplete = await this.#isComplete({ folder });
      const isOld = isComplete ? hasNewer : nowMs - madeAtMs > FULL_LIMIT_MS;
      if (isOld && folder !== this.#current?.folder) {
        await place.remove(folder);
        source.log.info('copy.removed', { folder });
      }
      // Moments since then are in this folder and in later ones.
      hasNewer ||= isComplete && madeAtMs <= nowMs - this.times.keepMs;
    }
  }

  async #isComplete({ folder }: Pick<CopyFolder, 'folder'>): Promise<boolean> {
    return (await this.parts.place.filesOf(folder).read('manifest.json')) !== undefined;
  }

  #backOff(): number {
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 10));
  }

  #id(): string {
    return Buffer.from(this.parts.random.bytes(ID_BYTES)).toString('hex');
  }

  #nowMs(): number {
    return this.parts.source.clock.nowMs();
  }
}
