import { ErrorReply, NilArray, type Reply, SimpleString } from '../../domain/kv/index.js';

export function encodeReply(r: Reply): string {
  if (typeof r === 'string') return `$${r.length}\r\n${r}\r\n`;
  if (r === null) return '$-1\r\n';
  if (r instanceof NilArray) return '*-1\r\n';
  if (typeof r === 'number' || typeof r === 'bigint') return `:${r}\r\n`;
  if (r instanceof SimpleString) return `+${r.text}\r\n`;
  if (r instanceof ErrorReply) return `-${r.text}\r\n`;
  return `*${(r as Reply[]).length}\r\n${(r as Reply[]).map(encodeReply).join('')}`;
}
