/** The answer of a failed endpoint: clients send an error's message and stack as JSON. */
import { Code } from '../../parts/code.js';
import { Body } from '../../parts/exchange.js';

export function ErrorBody({ text }: { readonly text: string | undefined }) {
  const stack = stackIn(text ?? '');
  return stack === undefined ? <Body text={text} /> : <Code text={stack} />;
}

/** The stack contains the message; other members add no information. */
function stackIn(text: string): string | undefined {
  try {
    const { stack } = JSON.parse(text) as { readonly stack?: unknown };
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
