# The jobs of this example.
require "sidekiq"

class AddJob
  include Sidekiq::Job

  def perform(a, b)
    Sidekiq.redis { |redis| redis.call("SET", "sum", a + b) }
  end
end
