/**
 * The program of one attacker process. It runs at a lower priority than all other processes, so that a slow answer is
 * caused by the work of the attacked server and not by the attacker's own use of the CPU. It takes orders over the
 * IPC channel from its parent (attack-process.ts) and exits with it.
 */
import { Attacker, type Scene } from './attacker.js';
import { ATTACKS } from './index.js';

export type Order =
  | { readonly do: 'run'; readonly title: string; readonly scene: Scene }
  | { readonly do: 'undo' }
  | { readonly do: 'go-on' };

export type Report =
  | { readonly is: 'waiting'; readonly answers: number }
  | { readonly is: 'done'; readonly error?: string | undefined };

const waiting: (() => void)[] = [];
let attacker: Attacker | undefined;
let title = '';

const tell = (report: Report) => process.send?.(report);

function waitForSteadyTenant(answers: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    tell({ is: 'waiting', answers });
  });
}

async function follow(order: Order): Promise<void> {
  switch (order.do) {
    case 'run':
      title = order.title;
      attacker = new Attacker(order.scene, waitForSteadyTenant);
      return attackOf(title).run(attacker);
    case 'undo':
      await attackOf(title).undo?.(attacker as Attacker);
      return;
    case 'go-on':
      throw new Error('go-on is handled before this function');
  }
}

function attackOf(name: string) {
  const attack = ATTACKS.find((one) => one.title === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}

process.on('message', (order: Order) => {
  if (order.do === 'go-on') {
    waiting.shift()?.();
    return;
  }
  follow(order).then(
    () => tell({ is: 'done' }),
    (error: Error) => tell({ is: 'done', error: error.stack ?? error.message }),
  );
});
process.on('disconnect', () => process.exit());
