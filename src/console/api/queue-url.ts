/** The address of the queue for clients, from the OpenAPI document. */
import { useAsk } from './ask.js';
import { answered } from './call.js';

interface Document {
  readonly paths: Readonly<Record<string, { readonly servers?: readonly { readonly url: string }[] }>>;
}

/** It does not change while the server runs. */
let known: Promise<string | undefined> | undefined;

/** @returns without a slash at its end; undefined until it is known */
export function useQueueUrl(): string | undefined {
  const asked = useAsk('queue url', () => {
    known ??= ask();
    return known;
  });
  return asked.data;
}

async function ask(): Promise<string | undefined> {
  const { paths } = (await answered('GET', '/openapi.json')) as Document;
  return paths['/v2/publish/{destination}']?.servers?.[0]?.url;
}
