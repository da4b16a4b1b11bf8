/** The process that has the other end of a connection of this machine, as Linux shows it in `/proc`. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** The columns of `/proc/net/tcp`. */
const REMOTE = 2;
const INODE = 9;

/** @param localPort of this process. @returns undefined if none of the processes has the other end */
export async function ownerOfConnection(localPort: number, pids: readonly number[]): Promise<number | undefined> {
  const port = `:${localPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  const inode = rows.find((row) => row[REMOTE]?.endsWith(port))?.[INODE];
  for (const pid of pids) {
    const directory = `/proc/${pid}/fd`;
    // A descriptor may close in between.
    const links = (await readdir(directory)).map((name) => readlink(`${directory}/${name}`).catch(() => ''));
    if ((await Promise.all(links)).includes(`socket:[${inode}]`)) return pid;
  }
  return undefined;
}
