/** A line of `facts` with a text that can be copied, even when it is hidden. */
import { CopyButton } from './code.js';

/** The server's replacement for a secret with write access, for a read-only key. */
export const MASKED_SECRET = '********';

const HIDDEN = '••••••••';

export interface SecretLineProps {
  readonly name: string;
  readonly text: string;
  readonly isOpen: boolean;
}

export function SecretLine({ name, text, isOpen }: SecretLineProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="row between">
        <code class="wrap-anywhere">{isOpen ? text : HIDDEN}</code>
        <CopyButton text={text} label={isOpen ? 'Copy' : `Copy ${name.toLowerCase()}`} />
      </dd>
    </>
  );
}
