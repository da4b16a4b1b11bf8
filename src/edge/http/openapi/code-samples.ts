/**
 * Examples of calls, in several languages, made from the declaration of an operation: no example is written by hand.
 * Addresses and tokens are the variables that `millrace env` prints.
 */
import { type CodeSample, JSON_TYPE } from './parts.js';

/** The name of the environment in a program of JavaScript. */
const ENVIRONMENT = ['process', 'env'].join('.');

/** The variables of the address and of the credentials. */
export interface SampleClient {
  readonly url: string;
  /** A token, or the names of user and password; undefined: the operation is open. */
  readonly token?: string;
  readonly login?: readonly [user: string, password: string];
}

/** A valid call of an operation. */
export interface SampleCall {
  readonly client: SampleClient;
  readonly method: string;
  /** With its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or bytes as text. */
  readonly body?: { readonly type: string; readonly value: unknown };
  /** The answer is a stream that stays open. */
  readonly isStream: boolean;
  /** The answer is JSON. */
  readonly isJson: boolean;
}

const LANGUAGES = {
  sh: { label: 'curl', write: curl },
  js: { label: 'JavaScript', write: javaScript },
  python: { label: 'Python', write: python },
  go: { label: 'Go', write: go },
} as const;

export type SampleLanguage = keyof typeof LANGUAGES;

export function codeSamples(call: SampleCall, languages: readonly SampleLanguage[]): CodeSample[] {
  return languages.map((lang) => {
    const { label, write } = LANGUAGES[lang];
    return { lang, label, source: write(call) };
  });
}

function curl({ client, method, target, headers, body, isStream }: SampleCall): string {
  const { url, token, login } = client;
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  const how = method === 'HEAD' ? ' -I' : `${isStream ? 'N' : ''}${isImplied ? '' : ` -X ${method}`}`;
  const parts = [
    `curl -s${how} "$${url}${target}"`,
    ...(token === undefined ? [] : [`-H "Authorization: Bearer $${token}"`]),
    ...(login === undefined ? [] : [`-u "$${login[0]}:$${login[1]}"`]),
    ...Object.entries(sent(headers, body)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(bodyText(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

function javaScript({ client, method, target, headers, body, isStream, isJson }: SampleCall): string {
  const { url, token, login } = client;
  const secret =
    token !== undefined
      ? `\`Bearer \${${ENVIRONMENT}.${token}}\``
      : login && `\`Basic \${btoa(\`\${${ENVIRONMENT}.${login[0]}}:\${${ENVIRONMENT}.${login[1]}}\`)}\``;
  const all = [
    ...(secret === undefined ? [] : [`Authorization: ${secret}`]),
    ...Object.entries(sent(headers, body)).map(([name, value]) => `${property(name)}: ${text(value)}`),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(all.length === 0 ? [] : ['  headers: {', ...all.map((line) => `    ${line},`), '  },']),
    ...(body === undefined
      ? []
      : [`  body: ${isJsonBody(body) ? `JSON.stringify(${json(body.value)})` : text(bodyText(body))},`]),
  ];
  const address = `\`\${${ENVIRONMENT}.${url}}${target}\``;
  const call = options.length === 0 ? `fetch(${address})` : `fetch(${address}, {\n${options.join('\n')}\n})`;
  const shown = isStream
    ? 'for await (const part of response.body.pipeThrough(new TextDecoderStream())) console.log(part);'
    : `console.log(response.status${method === 'HEAD' ? '' : `, await response.${isJson ? 'json' : 'text'}()`});`;
  return `const response = await ${call};\n${shown}`;
}

function python({ client, method, target, headers, body, isStream }: SampleCall): string {
  const { url, token, login } = client;
  const secret =
    token !== undefined
      ? `f"Bearer {os.environ['${token}']}"`
      : login && "'Basic ' + base64.b64encode(login.encode()).decode()";
  const all = [
    ...(secret === undefined ? [] : [`    'Authorization': ${secret},`]),
    ...Object.entries(sent(headers, body)).map(([name, value]) => `    ${text(name)}: ${text(value)},`),
  ];
  const data = body === undefined ? [] : [`data = ${text(bodyText(body))}.encode()`];
  return [
    `import ${login === undefined ? 'os' : 'base64, os'}`,
    'from urllib.request import Request, urlopen',
    '',
    ...(login === undefined ? [] : [`login = f"{os.environ['${login[0]}']}:{os.environ['${login[1]}']}"`]),
    ...(all.length === 0 ? ['headers = {}'] : ['headers = {', ...all, '}']),
    ...data,
    `url = os.environ['${url}'] + ${text(target)}`,
    `request = Request(url, ${body === undefined ? '' : 'data, '}headers=headers, method='${method}')`,
    'with urlopen(request) as answer:',
    isStream
      ? '    for line in answer:\n        print(line.decode(), end="")'
      : '    print(answer.status, answer.read().decode())',
  ].join('\n');
}

function go({ client, method, target, headers, body, isStream }: SampleCall): string {
  const { url, token, login } = client;
  const reader = body === undefined ? 'nil' : `strings.NewReader(${goText(bodyText(body))})`;
  const imports = [isStream ? 'bufio' : 'io', 'fmt', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])];
  return [
    'package main',
    '',
    'import (',
    ...[...imports].sort().map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\trequest, err := http.NewRequest("${method}", os.Getenv("${url}")+${goText(target)}, ${reader})`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    ...(token === undefined ? [] : [`\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("${token}"))`]),
    ...(login === undefined ? [] : [`\trequest.SetBasicAuth(os.Getenv("${login[0]}"), os.Getenv("${login[1]}"))`]),
    ...Object.entries(sent(headers, body)).map(
      ([name, value]) => `\trequest.Header.Set(${goText(name)}, ${goText(value)})`,
    ),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    ...(isStream
      ? ['\tlines := bufio.NewScanner(response.Body)', '\tfor lines.Scan() {', '\t\tfmt.Println(lines.Text())', '\t}']
      : ['\tanswer, err := io.ReadAll(response.Body)', '\tfmt.Println(response.StatusCode, string(answer), err)']),
    '}',
  ].join('\n');
}

function sent(headers: SampleCall['headers'], body: SampleCall['body']): Readonly<Record<string, string>> {
  return body === undefined ? headers : { ...headers, 'Content-Type': body.type };
}

function isJsonBody({ type }: NonNullable<SampleCall['body']>): boolean {
  return type === JSON_TYPE;
}

function bodyText(body: NonNullable<SampleCall['body']>): string {
  return isJsonBody(body) ? JSON.stringify(body.value) : String(body.value);
}

/** For a shell. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** A literal of JavaScript and of Python. */
function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

function goText(value: string): string {
  return value.includes('`') || !value.includes('"') ? JSON.stringify(value) : `\`${value}\``;
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name);
}

/** A value as a program writes it. */
function json(value: unknown): string {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${property(name)}: ${json(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
