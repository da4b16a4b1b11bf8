/**
 * Programs on a disk whose syncs take longer: strace ends each `fsync` and `fdatasync` later. A filter of the kernel lets all
 * other system calls pass, so they cost as much as without it. The process has the id of the program.
 */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findNatsServer } from '../test/support/nats-server.js';

const CALLS = 'fsync,fdatasync';
/** Of every bench: `SYNC_ADDED_MS=1` shows how it does on a slower disk. */
export const ADDED_US = Number(process.env.SYNC_ADDED_MS ?? 0) * 1000;

export function isStraceMissing(): boolean {
  return spawnSync('which', ['strace']).status !== 0;
}

/** The words that start a program with slower syncs: command and arguments. */
export function withSlowSyncs(addedUs: number, words: readonly string[]): readonly string[] {
  if (addedUs === 0) return words;
  const inject = `inject=${CALLS}:delay_exit=${addedUs}`;
  return [
    'strace',
    '-D',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${CALLS}`,
    '-e',
    inject,
    ...words,
  ];
}

/** Writes a program that starts the nats-server with slower syncs. @returns its path, for MILLRACE_NATS_SERVER */
export async function slowNatsServer(addedUs: number, directory: string): Promise<string> {
  const path = join(directory, 'slow-nats-server');
  const start = withSlowSyncs(addedUs, [findNatsServer(), '"$@"']).join(' ');
  await writeFile(path, `#!/bin/sh\nexec ${start}\n`, { mode: 0o755 });
  return path;
}
