/** The usual work of an operator on a running process, one command after another. */
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { temporaryDirectory } from '../millrace-process.js';
import { type AttackStand, basic } from './attack-stand.js';

/** Runs an export, a verification, a backup and a rebuild of a read model. Each must succeed. */
export async function operatorsWork(stand: AttackStand): Promise<void> {
  const exported = await stand.command('journal', 'export', '--database', stand.steady.databaseId);
  expect(exported.stdout.length).to.be.above(0);
  await stand.command('journal', 'verify', '--all');
  const directory = `${await temporaryDirectory()}/backup`;
  await stand.command('backup', 'create', '--to', directory);
  await stand.command('backup', 'verify', directory);
  const { email, key } = stand.operator;
  const answer = await fetch(`${stand.addresses.mgmt}/v2/admin/read-models/messages/rebuild`, {
    method: 'POST',
    headers: { authorization: basic(email, key) },
  });
  expect(answer.status, await answer.text()).to.equal(200);
  await eventually(() => expect(stand.log()).to.include('read-model.rebuilt'));
}
