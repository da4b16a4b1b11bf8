/**
 * A wrong wall clock for one process, by Debian's libfaketime, from its start on or changed while it runs. The
 * monotonic clock stays right, as after a change of a machine's clock.
 */
import { existsSync, readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Environment, temporaryDirectory } from './millrace-process.js';

const LIBRARIES = '/usr/lib';
/** The library for programs with threads, in the folder of the machine's architecture. */
const LIBRARY = 'faketime/libfaketimeMT.so.1';
/** The time in seconds for which the library uses its last read value. */
const CACHE_SECONDS = 1;

export class FakeTime {
  private constructor(
    private readonly file: string,
    private readonly library: string,
  ) {}

  /** @throws if libfaketime is not installed */
  static async create(): Promise<FakeTime> {
    const library = readdirSync(LIBRARIES)
      .map((folder) => join(LIBRARIES, folder, LIBRARY))
      .find((path) => existsSync(path));
    if (library === undefined) throw new Error(`no ${LIBRARIES}/*/${LIBRARY}: install Debian's package libfaketime`);
    const time = new FakeTime(join(await temporaryDirectory(), 'faketime'), library);
    await time.setAhead(0);
    return time;
  }

  /** The environment of the process with the changed clock. */
  get env(): Environment {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: String(CACHE_SECONDS),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    };
  }

  /** Sets the difference to the right time; the change takes effect within a second. */
  async setAhead(ms: number): Promise<void> {
    const text = `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(3)}\n`;
    // The rename prevents a read of an incomplete number.
    await writeFile(`${this.file}.new`, text);
    await rename(`${this.file}.new`, this.file);
  }
}
