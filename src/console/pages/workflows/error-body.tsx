/** What an endpoint answered when it failed: clients put an error's message and its stack into JSON. */
import { Code } from '../../parts/code.js';
import { Body } from '../../parts/exchange.js';

export function ErrorBody({ text }: { readonly text: string | undefined }) {
  const stack = stackIn(text ?? '');
  return stack === undefined ? <Body text={text} /> : <Code text={stack} />;
}

/** It begins with the message; other members say nothing more. */
function stackIn(text: string): string | undefined {
  try {
    const { stack } = JSON.parse(text) as { readonly stack?: unknown };
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
