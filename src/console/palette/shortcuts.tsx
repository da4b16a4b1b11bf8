/** The keys of the console (`?`). */
import { Dialog } from '../parts/dialog.js';
import { pageKeys } from '../parts/keys.js';

const KEYS: readonly (readonly [keys: readonly string[], action: string])[] = [
  [['Ctrl', 'K'], 'Find a page, an object or an action'],
  [['?'], 'Show this list'],
  [['↑', '↓'], 'Choose a result'],
  [['Enter'], 'Open the result, or run the action'],
  [['Esc'], 'Close the dialog'],
  [['Tab'], 'Go to the next link, field or button'],
];

export function Shortcuts({ onClose }: { onClose(): void }) {
  // Upper and lower case of a letter do the same, and are listed once.
  const ofPage = new Map(pageKeys.value.flat().map(({ key, label }) => [label, key]));
  const all = [...KEYS, ...[...ofPage].map(([label, key]) => [[key], `On this page: ${label}`] as const)];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {all.map(([keys, action]) => (
          <div key={action}>
            <dt>
              {keys.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
