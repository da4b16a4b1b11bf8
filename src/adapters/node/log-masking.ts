/**
 * Masks log fields, so that a field logged by mistake shows no secret.
 *
 *  LM1 text and structures under a name of a secret, a body or a query are masked; numbers and booleans are not,
 *      because `tokens: 3` is harmless
 *  LM2 in any text, userinfo and query of a URL, values of `…token=` and credentials of an authorization header are
 *      masked; a field with the name of a path or URL loses its query
 *  LM3 output is bounded in depth, items and characters; bytes are shown as their count
 */
import { describeError, MillraceError } from '../../kernel/index.js';

const MASK = '********';
const SECRET_NAME =
  /token|passw(or)?d|passphrase|secret|authorization|cookie|credential|seed|private_?key|api_?key|signing_?key|mgmt_?key|signature|body|query|payload|headers/i;
const LOCATION_NAME = /url|uri|path|href|target|location|endpoint|origin/i;

const MAX_DEPTH = 4;
/** Items of one array or fields of one object. */
const MAX_ITEMS = 50;
/** Log collectors often cut lines at 16 KiB. */
const MAX_CHARACTERS = 2048;
/** The characters searched for secrets; the rest is never shown. */
const MAX_SEARCHED_CHARACTERS = 4 * MAX_CHARACTERS;

export type Rendered = string | number | boolean | null | Rendered[] | { [name: string]: Rendered };

/** @param name  of the field of `value`. @param withStacks  stacks of errors, for development */
export function renderField(name: string, value: unknown, withStacks: boolean): Rendered | undefined {
  return render(name, value, withStacks, 0);
}

function render(name: string, value: unknown, withStacks: boolean, depth: number): Rendered | undefined {
  switch (typeof value) {
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'bigint':
      return String(value);
    default:
      break;
  }
  if (value === null) return null;
  if (SECRET_NAME.test(name)) return MASK;
  if (typeof value === 'string') return maskText(value, LOCATION_NAME.test(name));
  return renderObject(name, value as object, withStacks, depth);
}

function renderObject(name: string, value: object, withStacks: boolean, depth: number): Rendered | undefined {
  if (ArrayBuffer.isView(value)) return `<${value.byteLength} bytes>`;
  if (value instanceof Error) return renderError(value, withStacks, depth);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const json: unknown = value.toJSON();
    if (typeof json !== 'object') return render(name, json, withStacks, depth);
  }
  if (depth >= MAX_DEPTH) return '<deeper>';
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_ITEMS).map((item) => render(name, item, withStacks, depth + 1) ?? null);
    return value.length > MAX_ITEMS ? [...shown, `<${value.length - MAX_ITEMS} more>`] : shown;
  }
  return renderFields(value, withStacks, depth + 1);
}

/** Null-prototype, so that a field named `__proto__` is an ordinary field. */
function renderFields(value: object, withStacks: boolean, depth: number): { [name: string]: Rendered } {
  const rendered: { [name: string]: Rendered } = Object.create(null);
  for (const [field, inner] of Object.entries(value).slice(0, MAX_ITEMS)) {
    const shown = render(field, inner, withStacks, depth);
    if (shown !== undefined) rendered[field] = shown;
  }
  return rendered;
}

function renderError(error: Error, withStacks: boolean, depth: number): Rendered {
  const message = maskText(describeError(error), false);
  const code = error instanceof MillraceError ? error.code : (error as NodeJS.ErrnoException).code;
  const hasDetails = error instanceof MillraceError && Object.keys(error.details).length > 0 && depth < MAX_DEPTH;
  if (code === undefined && !hasDetails && !withStacks) return message;
  const rendered: { [name: string]: Rendered } = { message };
  if (code !== undefined) rendered.code = String(code);
  if (hasDetails) rendered.details = renderFields(error.details, withStacks, depth + 1);
  if (withStacks && error.stack) rendered.stack = maskText(error.stack, false);
  return rendered;
}

/**
 * Masks before cutting, because a cut before the `@` would leave a password that is not recognised.
 * @param isLocation  the whole text is a path or a URL
 */
function maskText(text: string, isLocation: boolean): string {
  // Every repetition below is bounded, so that a hostile text costs a few milliseconds at most.
  const masked = text
    .slice(0, MAX_SEARCHED_CHARACTERS)
    .replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^/\s@"'<>]{0,2048}@/gi, `$1${MASK}@`)
    .replace(/([a-z][a-z0-9+.-]{0,20}:\/\/[^\s?"'<>]{0,2048})\?[^\s"'<>]*/gi, `$1?${MASK}`)
    .replace(/([\w-]{0,40}(?:token|password|secret)=)[^&\s"';]+/gi, `$1${MASK}`)
    .replace(/\b(bearer|basic)\s{1,8}[\w.~+/=-]+/gi, `$1 ${MASK}`);
  const shown = isLocation ? masked.replace(/\?[^\s]*/, `?${MASK}`) : masked;
  return text.length > MAX_CHARACTERS ? `${shown.slice(0, MAX_CHARACTERS)}…` : shown;
}
