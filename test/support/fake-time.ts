/**
 * A wrong wall clock for one process, by Debian's libfaketime: off from its start on, or set while it runs. Its
 * monotonic clock stays right, as it does when somebody sets the clock of a machine.
 */
import { existsSync, readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Environment, temporaryDirectory } from './millrace-process.js';

const LIBRARIES = '/usr/lib';
/** In the folder of the machine's architecture; the one for programs with threads. */
const LIBRARY = 'faketime/libfaketimeMT.so.1';
/** For how long the library believes what it last read, seconds. */
const CACHE_SECONDS = 1;

export class FakeTime {
  private constructor(
    private readonly file: string,
    private readonly library: string,
  ) {}

  /** @throws when libfaketime is not installed */
  static async create(): Promise<FakeTime> {
    const library = readdirSync(LIBRARIES)
      .map((folder) => join(LIBRARIES, folder, LIBRARY))
      .find((path) => existsSync(path));
    if (library === undefined) throw new Error(`no ${LIBRARIES}/*/${LIBRARY}: install Debian's package libfaketime`);
    const time = new FakeTime(join(await temporaryDirectory(), 'faketime'), library);
    await time.setAhead(0);
    return time;
  }

  /** For the process whose clock it is. */
  get env(): Environment {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: String(CACHE_SECONDS),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    };
  }

  /** Within a second the clock is so far ahead of the right one. */
  async setAhead(ms: number): Promise<void> {
    const text = `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(3)}\n`;
    // Never half a number.
    await writeFile(`${this.file}.new`, text);
    await rename(`${this.file}.new`, this.file);
  }
}
