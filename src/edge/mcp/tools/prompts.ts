/** Prompts: questions that users of an installation ask often, with the facts that the server already knows. */
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import type { Json } from './operations.js';
import type { Tools } from './tools.js';

interface PromptRow extends Prompt {
  /** The tool whose answer has the facts, and its arguments. */
  readonly tool: string;
  argumentsOf(given: Readonly<Record<string, string>>): Json;
  question(given: Readonly<Record<string, string>>): string;
}

const ENTRIES = 20;

const PROMPTS: readonly PromptRow[] = [
  {
    name: 'why-did-this-message-fail',
    title: 'Why did this message fail?',
    description: 'Explains the attempts of a message, and how to repair and repeat it.',
    arguments: [{ name: 'message_id', description: 'The id of the message (msg_…).', required: true }],
    tool: 'get_v2_messages_id_story',
    argumentsOf: ({ message_id: id = '' }) => ({ id }),
    question: ({ message_id: id }) =>
      `Why did message ${id} fail? Say which attempts were made and what the destination answered, whether the cause is the destination, the message or a limit, whether a retry would help, and which call repeats the message.`,
  },
  {
    name: 'what-changed-this-key',
    title: 'What changed this key?',
    description: 'Lists the last changes of a key with their times, and explains them.',
    arguments: [
      { name: 'database_id', description: 'The id of the database.', required: true },
      { name: 'key', description: 'The key.', required: true },
    ],
    tool: 'get_v2_admin_databases_id_timeline',
    argumentsOf: ({ database_id: id = '', key = '' }) => ({ id, key, newest: true, limit: ENTRIES }),
    question: ({ key }) =>
      `What changed the key ${JSON.stringify(key)}? List its changes with their times, say what each did to the value, and how to see the database as it was before a change (the tool get_v2_admin_databases_id_state with the position before it).`,
  },
];

export function listedPrompts(): Prompt[] {
  return PROMPTS.map(({ name, title, description, arguments: asked }) => ({
    name,
    title,
    description,
    arguments: asked,
  }));
}

/** @throws Error for an unknown prompt or a missing argument */
export async function promptOf(
  name: string,
  given: Readonly<Record<string, string>>,
  tools: Tools,
  signal: AbortSignal,
): Promise<GetPromptResult> {
  const row = PROMPTS.find((one) => one.name === name);
  if (row === undefined) throw new Error(`there is no prompt ${name}`);
  const missing = row.arguments?.find((one) => given[one.name] === undefined);
  if (missing !== undefined) throw new Error(`the argument ${missing.name} is missing`);
  const { text } = await tools.call(row.tool, row.argumentsOf(given), signal);
  const message = `${row.question(given)}\n\nThe installation says:\n${text}`;
  return { description: row.description, messages: [{ role: 'user', content: { type: 'text', text: message } }] };
}
