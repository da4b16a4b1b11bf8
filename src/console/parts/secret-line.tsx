/** One line of `facts` with a text that can be copied, and that may be hidden: what is hidden can be copied all the same. */
import { CopyButton } from './code.js';

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
