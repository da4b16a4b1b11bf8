/**
 * One attacker in a process of its own, which gives way to everybody else on the machine: what it costs is then what
 * its victim spends on it. It is told what to do over the channel to its parent (attack-process.ts), and goes with it.
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

const goesOn: (() => void)[] = [];
let attacker: Attacker | undefined;
let title = '';

const tell = (report: Report) => process.send?.(report);

function othersGoOn(answers: number): Promise<void> {
  return new Promise((resolve) => {
    goesOn.push(resolve);
    tell({ is: 'waiting', answers });
  });
}

async function follow(order: Order): Promise<void> {
  switch (order.do) {
    case 'run':
      title = order.title;
      attacker = new Attacker(order.scene, othersGoOn);
      return attackOf(title).run(attacker);
    case 'undo':
      await attackOf(title).undo?.(attacker as Attacker);
      return;
    case 'go-on':
      throw new Error('not something to do');
  }
}

function attackOf(name: string) {
  const attack = ATTACKS.find((one) => one.title === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}

process.on('message', (order: Order) => {
  if (order.do === 'go-on') {
    goesOn.shift()?.();
    return;
  }
  follow(order).then(
    () => tell({ is: 'done' }),
    (error: Error) => tell({ is: 'done', error: error.stack ?? error.message }),
  );
});
process.on('disconnect', () => process.exit());
