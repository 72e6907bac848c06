export type Fields = Readonly<Record<string, unknown>>;

/** Messages are constant strings; what varies goes beside them as fields. Never log a credential. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds these fields to every line. */
  with(fields: Fields): Log;
}

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** One JSON object a line, to wherever `write` leads. Errors are written as their message, cause and stack. */
export function jsonLog(write: (line: string) => void, level: LogLevel = 'info', base: Fields = {}): Log {
  const at =
    (name: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (order.indexOf(name) < order.indexOf(level)) return;
      const line = { time: new Date().toISOString(), level: name, message, ...base, ...fields };
      write(`${JSON.stringify(line, errorsAsText)}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => jsonLog(write, level, { ...base, ...fields }),
  };
}

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { message: value.message, stack: value.stack, ...(value.cause ? { cause: value.cause } : {}) };
}
