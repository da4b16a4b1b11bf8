/** The nats-server of the tests in this folder, and a separate data directory for each test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FoundServer, findNatsServer } from '../../../src/adapters/nats/embedded/index.js';
import { RecordingLog } from '../../support/recording-log.js';

let search: Promise<FoundServer> | undefined;

/** Found once, as a start would find it: named by the environment, in `.tools`, on the PATH, or fetched. */
export function testServer(): Promise<FoundServer> {
  search ??= findNatsServer({ log: new RecordingLog(), toolsDir: '.tools', path: process.env.MILLRACE_NATS_SERVER });
  return search;
}

/** A fresh directory for each test of the enclosing `describe`, removed afterwards. */
export function freshDirs(): { dir: string } {
  const fresh = { dir: '' };
  beforeEach(async () => {
    fresh.dir = await mkdtemp(join(tmpdir(), 'millrace-embedded-'));
  });
  afterEach(async () => {
    await rm(fresh.dir, { recursive: true, force: true });
  });
  return fresh;
}
