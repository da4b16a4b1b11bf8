/** Texts to copy and values of any origin, always rendered as text. */
import { useSignal } from '@preact/signals';
import { SmallButton } from './button.js';
import { Icon } from './icon.js';
import { indentedJson } from './json.js';
import { failed } from './toast.js';

const COPIED_MS = 1_500;
/** Characters rendered at first; copying takes the whole text. */
const MAX_DRAWN_CHARACTERS = 100_000;

export interface CopyProps {
  readonly text: string;
  readonly label?: string;
}

export function CopyButton({ text, label = 'Copy' }: CopyProps) {
  const isDone = useSignal(false);
  const copy = () =>
    copyText(text).then(() => {
      isDone.value = true;
      setTimeout(() => {
        isDone.value = false;
      }, COPIED_MS);
    }, failed);
  return (
    <SmallButton onClick={copy}>
      <Icon name={isDone.value ? 'check' : 'copy'} />
      {isDone.value ? 'Copied' : label}
    </SmallButton>
  );
}

/** Over plain HTTP, pages have only the old clipboard API. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('This browser does not let pages copy here: select the text instead.');
}

export interface CodeProps extends CopyProps {
  /** The copied text, with the secrets that the shown text hides. */
  readonly copied?: string | undefined;
}

export function Code({ text, label, copied = text }: CodeProps) {
  const isLong = text.length > MAX_DRAWN_CHARACTERS;
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre tabIndex={0} dir="auto">
        {isLong ? text.slice(0, MAX_DRAWN_CHARACTERS) : text}
      </pre>
      <CopyButton text={copied} {...(label !== undefined && { label })} />
      {isLong && (
        <p class="small muted">{`The first ${MAX_DRAWN_CHARACTERS} of ${text.length} characters; Copy takes all.`}</p>
      )}
    </div>
  );
}

/** Indents JSON; other text stays as it is. */
export function pretty(text: string): string {
  if (!/^\s*[[{"]/.test(text) || text.length > MAX_DRAWN_CHARACTERS) return text;
  try {
    return indentedJson(text);
  } catch {
    return text;
  }
}
