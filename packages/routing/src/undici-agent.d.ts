/** undici types its root only. */
declare module 'undici/lib/dispatcher/agent.js' {
  const Agent: typeof import('undici').Agent;
  // biome-ignore lint/style/noDefaultExport: it is how the module exports it
  export default Agent;
}
