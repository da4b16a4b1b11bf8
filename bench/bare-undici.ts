/**
 * The baseline of a drain: the given number of workers, each making one call after another until all calls are made.
 * Arguments: URL, calls, concurrency. Prints `ready` and begins when its parent sends the order.
 */
import { request } from 'undici';
import { BODY } from './queue-load.js';

const [url = '', calls = '0', concurrency = '1'] = process.argv.slice(2);
let left = Number(calls);

process.on('message', () => {
  for (let i = 0; i < Number(concurrency); i += 1) void worker();
});
process.stdout.write('ready\n');

async function worker(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: BODY,
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the sink answered ${statusCode}`);
  }
}
