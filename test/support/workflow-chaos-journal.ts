/** Verification of the journal by the operator's command, while the process runs. */
import { expect } from 'chai';
import { embeddedEnvironment, runMillrace } from './millrace-process.js';
import type { QueueProcess } from './queue-process.js';

const VERIFY_TIMEOUT_MS = 60_000;

/** @throws if the journal of the first account does not verify */
export async function verifyAccountJournal(queue: QueueProcess): Promise<void> {
  const env = await embeddedEnvironment(queue.millrace.dataDir);
  const shown = await queue.account('show');
  const id = /^id=(\S+)$/m.exec(shown.stdout.toString())?.[1] as string;
  const args = ['journal', 'verify', '--account', id];
  const { code, stdout, stderr } = await runMillrace(args, env, { timeoutMs: VERIFY_TIMEOUT_MS });
  expect(code, `${stdout.toString()}${stderr}`).to.equal(0);
}
