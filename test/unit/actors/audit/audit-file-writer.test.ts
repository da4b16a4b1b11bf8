/** Files of the audit log: each note is one line, also after an end at any moment. Proves AFW1, AFW2, AFW3, AFW4, AF1, AF3. */
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AuditFileWriter } from '../../../../src/actors/audit/index.js';
import { lockAuditDir } from '../../../../src/adapters/nats/embedded/index.js';
import { AuditDirectory } from '../../../../src/adapters/node/index.js';
import { UNWATCHED } from '../../../../src/ports/index.js';
import { CONTROL_SHARD } from '../../../../src/protocol/index.js';
import { AuditJournal, auditNote, DAY_MS, NOON_MS } from '../../../support/audit-journal.js';
import { eventually } from '../../../support/eventually.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { realTime } from '../../../support/real-time.js';

const NOVEMBER = 'audit-2026-11-30.jsonl';
const DECEMBER = 'audit-2026-12-01.jsonl';

interface Line {
  readonly log_id: string;
  readonly entity: string;
  readonly position: number;
}

describe('files of the audit log', () => {
  let directory: string;
  let control: AuditJournal;
  let log: MemoryLog;
  const writers: AuditFileWriter[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-audit-'));
    control = new AuditJournal();
    log = new MemoryLog();
  });
  afterEach(async () => {
    for (const writer of writers.splice(0)) await writer.stop();
    await rm(directory, { recursive: true });
  });

  const filesHere = () => new AuditDirectory(directory, () => lockAuditDir(directory));

  function start(files = filesHere()): AuditFileWriter {
    const { journal } = control;
    const ports = { journal, files, clock: realTime, timers: realTime, log, metrics: UNWATCHED };
    const writer = new AuditFileWriter({ ...ports, isOwner: () => true });
    writers.push(writer);
    writer.start();
    return writer;
  }

  const textOf = (name = NOVEMBER) => readFile(join(directory, name), 'utf8');
  async function lines(): Promise<Line[]> {
    const all: Line[] = [];
    for (const name of (await readdir(directory)).filter((one) => one !== 'lock').sort()) {
      for (const line of (await textOf(name)).split('\n').slice(0, -1)) all.push(JSON.parse(line));
    }
    return all;
  }
  const entities = async () => (await lines()).map(({ entity }) => Number(entity.split('-')[1]));
  const untilWritten = (...numbers: number[]) =>
    eventually(async () => expect(await entities()).to.deep.equal(numbers));
  const events = () => log.lines.map(({ event }) => event);

  it('have a line of JSON for each note, by day, with the position in the journal', async () => {
    await control.append(auditNote(1), auditNote(2, { atMs: NOON_MS + DAY_MS }));
    start();
    await untilWritten(1, 2);
    await control.append(auditNote(3, { atMs: NOON_MS + DAY_MS }));
    await untilWritten(1, 2, 3);
    expect(await readdir(directory)).to.have.members([NOVEMBER, DECEMBER, 'lock']);
    expect(JSON.parse(await textOf())).to.include({
      log_id: '00000000-0000-8000-8a0d-000000000001',
      actor: 'ada@example.com',
      action_string: 'Create Database',
      readable_format: 'ada@example.com: Create Database, database-1',
      timestamp: NOON_MS / 1000,
      position: 2,
    });
    expect((await stat(join(directory, NOVEMBER))).mode & 0o777).to.equal(0o600);
  });

  it('continue after every possible end of the process, at each byte, without a gap or a repetition', async () => {
    await control.append(auditNote(1), auditNote(2));
    await control.append(auditNote(3));
    const first = start();
    await untilWritten(1, 2, 3);
    await first.stop();
    const whole = await textOf();
    for (let bytes = whole.length - 1; bytes >= 0; bytes -= 61) {
      await truncate(join(directory, NOVEMBER), bytes);
      const next = start();
      await eventually(async () => expect(await textOf(), `cut at ${bytes}`).to.equal(whole));
      await next.stop();
    }
    expect(events()).to.deep.equal([]);
  });

  it('continue from the file before when the newest one is empty', async () => {
    await control.append(auditNote(1));
    await control.append(auditNote(2, { atMs: NOON_MS + DAY_MS }));
    await start().stop();
    const first = start();
    await untilWritten(1, 2);
    await first.stop();
    await truncate(join(directory, DECEMBER), 5);
    start();
    await untilWritten(1, 2);
  });

  it('are written again, with a log line and a failure that alerts see, after the disk was full', async () => {
    const files = filesHere();
    let isFull = true;
    const write = (day: string, text: string) => files.append(day, text);
    const full = {
      label: directory,
      newest: () => files.newest(),
      release: () => files.release(),
      append: async (day: string, text: string) => {
        if (!isFull) return write(day, text);
        await write(day, text.slice(0, 100));
        throw new Error('ENOSPC: no space left on device');
      },
    } as AuditDirectory;
    await control.append(auditNote(1), auditNote(2));
    const writer = start(full);
    await eventually(async () => expect(writer.failure()?.cause).to.equal('ENOSPC: no space left on device'));
    isFull = false;
    await untilWritten(1, 2);
    await eventually(async () => expect(writer.failure()).to.equal(undefined));
    expect(events()).to.deep.equal(['audit-files.not-written', 'audit-files.continues']);
  });

  it('are left as they are when their last line is not in the journal', async () => {
    await control.append(auditNote(1), auditNote(2));
    const writer = start();
    await untilWritten(1, 2);
    await writer.stop();
    control = new AuditJournal();
    await control.append(auditNote(1));
    const other = start();
    await eventually(async () => expect(other.failure()?.cause).to.match(/does not have note 2, the last line/));
    await other.stop();
    await appendFile(join(directory, NOVEMBER), 'a remark\n');
    const third = start();
    await eventually(async () => expect(third.failure()?.cause).to.match(/is not a line of the audit log/));
    expect(await textOf()).to.match(/a remark\n$/);
  });

  it('continue with the first note that the journal still has, and report a gap', async () => {
    for (let number = 1; number <= 4; number += 1) await control.append(auditNote(number));
    const writer = start();
    await untilWritten(1, 2, 3, 4);
    await writer.stop();
    await truncate(join(directory, NOVEMBER), (await textOf()).indexOf('\n') + 1);
    await control.journal.truncateFront(CONTROL_SHARD, 4);
    start();
    await untilWritten(1, 3, 4);
    const fields = { place: directory, after: 1, next: 3 };
    await eventually(() => expect(log.lines).to.deep.equal([{ level: 'error', event: 'audit-files.gap', fields }]));
  });

  it('are written by one of two owners at a time, and the other continues without a gap or a repetition', async () => {
    await control.append(auditNote(1));
    const first = start();
    await untilWritten(1);
    const second = start();
    const inUse = new RegExp(`in use by process ${process.pid}`);
    await eventually(() => expect(second.failure()?.cause).to.match(inUse));
    for (let number = 2; number <= 40; number += 1) await control.append(auditNote(number));
    const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
    await untilWritten(...upTo(40));
    await first.stop();
    await control.append(auditNote(41));
    await untilWritten(...upTo(41));
    await eventually(() => expect(second.failure()).to.equal(undefined));
    expect(events()).to.deep.equal(['audit-files.not-written', 'audit-files.continues']);
  });

  it('are not continued by an append after another program has written', async () => {
    const files = filesHere();
    expect(await files.newest()).to.equal(undefined);
    await files.append('2026-11-30', 'a\n');
    await appendFile(join(directory, NOVEMBER), 'b\n');
    const refused = await files.append('2026-11-30', 'c\n').catch((error: Error) => error.message);
    expect(refused).to.match(/another program has written/);
    expect(await files.newest()).to.deep.equal({ day: '2026-11-30', text: 'b' });
    files.release();
  });
});
